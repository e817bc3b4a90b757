import type { Actor } from '../../model/audit.ts'
import type { Revocations } from '../../model/key-hash.ts'
import type { Instant } from '../../model/instant.ts'
import { countOf } from '../../model/text.ts'
import { act, type Note } from '../../accounts/records/audit.ts'
import { inBatches } from '../../database/batches.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { columnsOf, insertGiven } from '../../database/given-rows.ts'
import { sql } from '../../database/sql.ts'

/** How long a part of the list holds up the event loop, in rows. */
const PART_MAX = 1_000

export function revocations(database: Database) {
  return {
    /** Hands over the whole list, each hash in hexadecimal. */
    async readRevocations(onRevoked: (hash: string, at: Instant) => void): Promise<void> {
      const list = sql`
        SELECT key_hash, ${database.dialect.instant('revoked_at')} FROM revoked_hashes
        ORDER BY revoked_hashes.revoked_at, key_hash`
      await database.readParts(list, PART_MAX, (rows) => {
        for (const { key_hash, revoked_at } of rows as {
          key_hash: Uint8Array
          revoked_at: Instant
        }[])
          onRevoked(Buffer.from(key_hash).toString('hex'), revoked_at)
      })
    },

    /**
     * Adds to the list, which revokes the keys that are here. Returns how many hashes it lacked.
     * Each batch is one transaction. The first that adds any has an entry, and if others follow, a
     * last entry counts all.
     */
    async uniteRevocations(revoked: Revocations, actor: Actor): Promise<number> {
      const rows = Array.from(revoked, ([hash, revoked_at]) => ({
        key_hash: Uint8Array.from(Buffer.from(hash, 'hex')),
        revoked_at,
      }))
      let [done, first, all] = [0, 0, 0]
      await inBatches(async (rowsMax) => {
        const batch = rows.slice(done, done + rowsMax)
        const added = await act(database, actor, async (transaction, note) => {
          const unknown = await add(transaction, batch)
          if (first === 0 && unknown > 0) say(note, unknown)
          return unknown
        })
        first ||= added
        all += added
        done += batch.length
        return batch.length
      })
      if (all > first) await act(database, actor, async (_, note) => say(note, all))
      return all
    },
  }
}

const say = (note: Note, added: number): void =>
  note('revocations added', null, countOf(added, 'key'))

function add(
  transaction: Transaction,
  batch: readonly { key_hash: Uint8Array; revoked_at: Instant }[],
): Promise<number> {
  const columns = columnsOf({ bytes: 'key_hash', instant: 'revoked_at' })
  const unknown = sql`ON CONFLICT (key_hash) DO NOTHING`
  return insertGiven(transaction, 'revoked_hashes', columns, batch, unknown)
}
