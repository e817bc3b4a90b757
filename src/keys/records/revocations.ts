import { type Actor, inParts } from '../../model/audit.ts'
import type { Revocations } from '../../model/key-hash.ts'
import type { Instant } from '../../model/instant.ts'
import { countOf } from '../../model/text.ts'
import { act, endParts, type Note } from '../../accounts/records/audit.ts'
import { inBatches } from '../../database/batches.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { columnsOf, insertGiven } from '../../database/given-rows.ts'
import { sql } from '../../database/sql.ts'

export function revocations(database: Database) {
  return {
    /**
     * Adds to the list, which revokes the keys that are here. Returns how many hashes it lacked.
     * Each batch is one transaction.
     */
    async uniteRevocations(revoked: Revocations, operator: Actor): Promise<number> {
      const actor = inParts(operator)
      const rows = Array.from(revoked, ([hash, revoked_at]) => ({
        key_hash: Uint8Array.from(Buffer.from(hash, 'hex')),
        revoked_at,
      }))
      let done = 0
      let added = 0
      await inBatches(async (rowsMax) => {
        const batch = rows.slice(done, done + rowsMax)
        added += await act(database, actor, (transaction, note) => add(transaction, batch, note))
        done += batch.length
        return batch.length
      })
      await endParts(database, actor, 'revocations added', null, countOf(added, 'key'))
      return added
    },
  }
}

async function add(
  transaction: Transaction,
  batch: readonly { key_hash: Uint8Array; revoked_at: Instant }[],
  note: Note,
): Promise<number> {
  const columns = columnsOf({ bytes: 'key_hash', instant: 'revoked_at' })
  const unknown = sql`ON CONFLICT (key_hash) DO NOTHING`
  const added = await insertGiven(transaction, 'revoked_hashes', columns, batch, unknown)
  if (added > 0) note('revocations added', null, countOf(added, 'key'))
  return added
}
