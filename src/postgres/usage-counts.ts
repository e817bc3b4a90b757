import { COUNTS_SLICE, type UsageCount, type UsageCountStore } from '../model/usage-counts.ts'
import type { Database } from './database.ts'

export function usageCounts(database: Database): UsageCountStore {
  return {
    async addUsageCounts(counts) {
      const slice = counts.slice(0, COUNTS_SLICE)
      await database.query(
        `INSERT INTO usage_counts AS known (slot, api_key_id, answered, limited, revoked)
         SELECT * FROM unnest($1::int[], $2::uuid[], $3::int[], $4::int[], $5::int[])
         ORDER BY 2, 1
         ON CONFLICT (api_key_id, slot) DO UPDATE SET answered = known.answered + excluded.answered,
           limited = known.limited + excluded.limited, revoked = known.revoked + excluded.revoked`,
        [
          slice.map(({ slot }) => slot),
          slice.map(({ api_key_id }) => api_key_id),
          slice.map(({ answered }) => answered),
          slice.map(({ limited }) => limited),
          slice.map(({ revoked }) => revoked),
        ],
      )
    },

    async listUsageCounts(apiKeyIds, fromSlot) {
      return database.query<UsageCount>(
        `SELECT api_key_id, slot, answered, limited, revoked FROM usage_counts
         WHERE api_key_id = ANY ($1::uuid[]) AND slot >= $2`,
        [apiKeyIds, fromSlot],
      )
    },

    async dropUsageCounts(beforeSlot) {
      const dropped = await database.query(
        `WITH old AS MATERIALIZED (
           SELECT api_key_id, slot FROM usage_counts WHERE slot < $1 LIMIT ${COUNTS_SLICE}
         ) DELETE FROM usage_counts WHERE (api_key_id, slot) IN (SELECT * FROM old) RETURNING slot`,
        [beforeSlot],
      )
      return dropped.length === COUNTS_SLICE
    },
  }
}
