import { COUNTS_SLICE, SLOTS_KEPT, type UseCount, type UseCountStore } from '../model/use-counts.ts'
import type { Queries } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/**
 * Writes on the connection that records claims. A commit of another connection would make all
 * cached listings invalid.
 */
export function writeUseCounts(
  claiming: Queries,
): Pick<UseCountStore, 'addUseCounts' | 'dropUseCounts'> {
  return {
    async addUseCounts(counts) {
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
        INSERT INTO use_counts (slot, api_key_id, answered, limited, revoked)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
        FROM json_each(${JSON.stringify(rows)}) WHERE true
        ON CONFLICT (slot, api_key_id) DO UPDATE SET answered = answered + excluded.answered,
          limited = limited + excluded.limited, revoked = revoked + excluded.revoked`)
    },

    async dropUseCounts(beforeSlot) {
      const dropped = await claiming.run(sql`
        DELETE FROM use_counts WHERE (slot, api_key_id) IN
          (SELECT slot, api_key_id FROM use_counts WHERE slot < ${beforeSlot} LIMIT ${COUNTS_SLICE})`)
      return dropped === COUNTS_SLICE
    },
  }
}

export function readUseCounts(database: Queries): Pick<UseCountStore, 'listUseCounts'> {
  return {
    // Time slot by time slot, in the order of the rows. The limit protects from a row in the far
    // future, left by a clock that was ahead.
    async listUseCounts(apiKeyIds, fromSlot) {
      return database.all<UseCount>(sql`
        WITH RECURSIVE slots (slot) AS (
          SELECT max(${fromSlot}, min(slot)) FROM use_counts
          UNION ALL SELECT slot + 1 FROM slots WHERE slot < (SELECT max(slot) FROM use_counts)
          LIMIT ${SLOTS_KEPT}
        )
        SELECT api_key_id, use_counts.slot, answered, limited, revoked
        FROM slots CROSS JOIN json_each(${JSON.stringify(apiKeyIds)}) AS ids
        CROSS JOIN use_counts ON use_counts.slot = slots.slot AND api_key_id = ids.value`)
    },
  }
}
