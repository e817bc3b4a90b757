import {
  COUNTS_SLICE,
  hourOf,
  SLOTS_OF_HOUR,
  type UsageCount,
  type UsageCountStore,
} from '../model/usage-counts.ts'
import type { Database, Queries } from '../database/database.ts'
import { type Sql, sql } from '../database/sql.ts'

/**
 * Writes on the connection that records claims. A commit of another connection would make all
 * cached listings invalid.
 */
export function writeUsageCounts(claiming: Database): Omit<UsageCountStore, 'listUsageCounts'> {
  return {
    async addUsageCounts(counts) {
      await claiming.run(additionOf(counts.slice(0, COUNTS_SLICE)))
    },

    async rollUpUsageCounts(beforeSlot) {
      return claiming.transact(async (transaction) => {
        const newest = await transaction.get<{ slot: number }>(newestWithinHour(beforeSlot))
        if (newest === null) return false
        const { slot } = newest
        // Rows of one slot stand together, and so do those of its hour.
        const taken = await transaction.all<UsageCount>(sql`
          SELECT api_key_id, slot, answered, limited, revoked FROM usage_counts
          WHERE slot = ${slot} ORDER BY api_key_id LIMIT ${COUNTS_SLICE}`)
        await transaction.run(additionOf(taken.map((one) => ({ ...one, slot: hourOf(slot) }))))
        await transaction.run(sql`
          DELETE FROM usage_counts
          WHERE slot = ${slot} AND api_key_id <= ${taken.at(-1)!.api_key_id}`)
        return true
      })
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
    // Time slot by time slot, in the order of the rows. Goes only to slots that exist, however far
    // ahead a wrong clock has left one.
    async listUsageCounts(apiKeyIds, fromSlot) {
      return database.all<UsageCount>(sql`
        WITH RECURSIVE slots (slot) AS (
          SELECT min(slot) FROM usage_counts WHERE slot >= ${fromSlot}
          UNION ALL SELECT (SELECT min(slot) FROM usage_counts WHERE slot > slots.slot)
          FROM slots WHERE slot IS NOT NULL
        )
        SELECT api_key_id, usage_counts.slot, answered, limited, revoked
        FROM slots CROSS JOIN json_each(${JSON.stringify(apiKeyIds)}) AS ids
        CROSS JOIN usage_counts ON usage_counts.slot = slots.slot AND api_key_id = ids.value`)
    },
  }
}

/** Adds to the rows that exist. Without WHERE, SQLite would read ON CONFLICT as part of a join. */
function additionOf(counts: readonly UsageCount[]): Sql {
  const rows = counts.map(({ slot, api_key_id, answered, limited, revoked }) => [
    slot,
    api_key_id,
    answered,
    limited,
    revoked,
  ])
  return sql`
    INSERT INTO usage_counts (slot, api_key_id, answered, limited, revoked)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
    FROM json_each(${JSON.stringify(rows)}) WHERE true
    ON CONFLICT (slot, api_key_id) DO UPDATE SET answered = answered + excluded.answered,
      limited = limited + excluded.limited, revoked = revoked + excluded.revoked`
}

/**
 * The newest older slot that is not the first of its hour. Goes back from slot to slot, and so ends
 * at once while there is something to do.
 */
function newestWithinHour(beforeSlot: number): Sql {
  return sql`
    WITH RECURSIVE slots (slot) AS (
      SELECT max(slot) FROM usage_counts WHERE slot < ${beforeSlot}
      UNION ALL SELECT (SELECT max(slot) FROM usage_counts WHERE slot < slots.slot)
      FROM slots WHERE slot IS NOT NULL
    )
    SELECT slot FROM slots WHERE slot % ${SLOTS_OF_HOUR} <> 0 LIMIT 1`
}
