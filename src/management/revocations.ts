import type { Revocations } from '../listing/accounts/revocations.ts'
import { inBatches } from './batches.ts'
import type { Database } from './database.ts'
import { sql } from './sql.ts'

export function revocations(database: Database) {
  return {
    /**
     * Adds to the list, which revokes the keys that are here. Returns how many hashes it lacked.
     * Each batch is one transaction.
     */
    async uniteRevocations(revoked: Revocations): Promise<number> {
      const rows = Array.from(revoked, ([hash, revoked_at]) => ({
        key_hash: Uint8Array.from(Buffer.from(hash, 'hex')),
        revoked_at,
      }))
      let done = 0
      let added = 0
      await inBatches(async (rowsMax) => {
        const batch = rows.slice(done, done + rowsMax)
        added += await database.transact((transaction) =>
          transaction.runGiven({ key_hash: 'bytes', revoked_at: 'instant' }, batch, (given) => {
            const values = sql`${given.column('key_hash')}, ${given.column('revoked_at')}`
            return sql`INSERT INTO revoked_hashes (key_hash, revoked_at) ${given.rowsOf(values)}
              ON CONFLICT (key_hash) DO NOTHING`
          }),
        )
        done += batch.length
        return batch.length
      })
      return added
    },
  }
}
