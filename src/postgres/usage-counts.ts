import {
  COUNTS_SLICE,
  SLOTS_OF_HOUR,
  type UsageCount,
  type UsageCountStore,
} from '../model/usage-counts.ts'
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

    // Several processes do this at once: each takes other rows, and adds in the order of the keys.
    async rollUpUsageCounts(beforeSlot) {
      const [rolledUp] = await database.query<{ rows: number }>(
        `WITH old AS MATERIALIZED (
           SELECT api_key_id, slot FROM usage_counts
           WHERE slot < $1 AND slot % ${SLOTS_OF_HOUR} <> 0 LIMIT ${COUNTS_SLICE}
           FOR UPDATE SKIP LOCKED
         ), taken AS (
           DELETE FROM usage_counts WHERE (api_key_id, slot) IN (SELECT * FROM old) RETURNING *
         ), added AS (
           INSERT INTO usage_counts AS known (api_key_id, slot, answered, limited, revoked)
           SELECT api_key_id, slot - slot % ${SLOTS_OF_HOUR} AS hour,
             sum(answered), sum(limited), sum(revoked)
           FROM taken GROUP BY api_key_id, hour ORDER BY api_key_id, hour
           ON CONFLICT (api_key_id, slot) DO UPDATE SET answered = known.answered + excluded.answered,
             limited = known.limited + excluded.limited, revoked = known.revoked + excluded.revoked
         ) SELECT count(*)::int AS rows FROM taken`,
        [beforeSlot],
      )
      return rolledUp!.rows === COUNTS_SLICE
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
