import {
  COUNTS_SLICE,
  SLOTS_KEPT,
  type UsageCount,
  type UsageCountStore,
} from '../model/usage-counts.ts'
import type { Queries } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/**
 * Writes on the connection that records claims. A commit of another connection would make all
 * cached listings invalid.
 */
export function writeUsageCounts(
  claiming: Queries,
): Pick<UsageCountStore, 'addUsageCounts' | 'dropUsageCounts'> {
  return {
    async addUsageCounts(counts) {
      const rows = counts
        .slice(0, COUNTS_SLICE)
        .map(({ slot, api_key_id, answered, limited, revoked }) => [
          slot,
          api_key_id,
          answered,
          limited,
          revoked,
        ])
      // Without WHERE, SQLite would read ON CONFLICT as the condition of a join.
      await claiming.run(sql`
        INSERT INTO usage_counts (slot, api_key_id, answered, limited, revoked)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
        FROM json_each(${JSON.stringify(rows)}) WHERE true
        ON CONFLICT (slot, api_key_id) DO UPDATE SET answered = answered + excluded.answered,
          limited = limited + excluded.limited, revoked = revoked + excluded.revoked`)
    },

    async dropUsageCounts(beforeSlot) {
      const dropped = await claiming.run(sql`
        DELETE FROM usage_counts WHERE (slot, api_key_id) IN
          (SELECT slot, api_key_id FROM usage_counts WHERE slot < ${beforeSlot} LIMIT ${COUNTS_SLICE})`)
      return dropped === COUNTS_SLICE
    },
  }
}

export function readUsageCounts(database: Queries): Pick<UsageCountStore, 'listUsageCounts'> {
  return {
    // Time slot by time slot, in the order of the rows. The limit protects from a row in the far
    // future, left by a clock that was ahead.
    async listUsageCounts(apiKeyIds, fromSlot) {
      return database.all<UsageCount>(sql`
        WITH RECURSIVE slots (slot) AS (
          SELECT max(${fromSlot}, min(slot)) FROM usage_counts
          UNION ALL SELECT slot + 1 FROM slots WHERE slot < (SELECT max(slot) FROM usage_counts)
          LIMIT ${SLOTS_KEPT}
        )
        SELECT api_key_id, usage_counts.slot, answered, limited, revoked
        FROM slots CROSS JOIN json_each(${JSON.stringify(apiKeyIds)}) AS ids
        CROSS JOIN usage_counts ON usage_counts.slot = slots.slot AND api_key_id = ids.value`)
    },
  }
}
