import type { Database, Transaction } from '../../database/database.ts'
import { columnsOf, insertGiven } from '../../database/given-rows.ts'
import { inUuids, raw, type Sql, sql } from '../../database/sql.ts'
import {
  COUNTS_SLICE,
  hourOf,
  SLOTS_OF_HOUR,
  type UsageCount,
  type UsageCountStore,
} from '../../model/usage-counts.ts'

const COLUMNS = columnsOf({ uuid: 'api_key_id', integer: 'slot answered limited revoked' })
const NAMES = raw(Object.keys(COLUMNS).join(', '))

/** To write, give it the connection that a serving store lends for counting. */
export function usageCounts(database: Database): UsageCountStore {
  return {
    async addUsageCounts(counts) {
      await database.transact((transaction) => add(transaction, counts))
    },

    // Goes only to slots that exist, however far ahead a wrong clock has left one.
    async listUsageCounts(apiKeyIds, fromSlot) {
      return database.all<UsageCount>(sql`
        WITH RECURSIVE slots (slot) AS (
          SELECT min(slot) FROM usage_counts WHERE slot >= ${fromSlot}
          UNION ALL SELECT (SELECT min(slot) FROM usage_counts WHERE slot > slots.slot)
          FROM slots WHERE slot IS NOT NULL
        )
        SELECT ${NAMES} FROM usage_counts
        WHERE slot IN (SELECT slot FROM slots) AND api_key_id ${inUuids(apiKeyIds)}`)
    },

    async rollUpUsageCounts(beforeSlot) {
      return database.transact(async (transaction) => {
        await transaction.lockNames(['usage counts'])
        const newest = await transaction.get<{ slot: number }>(newestWithinHour(beforeSlot))
        if (newest === null) return false
        const taken = await take(transaction, sql`slot = ${newest.slot}`)
        await add(
          transaction,
          taken.map((count) => ({ ...count, slot: hourOf(count.slot) })),
        )
        return true
      })
    },

    async dropUsageCounts(beforeSlot) {
      const dropped = await database.transact((transaction) =>
        take(transaction, sql`slot < ${beforeSlot}`),
      )
      return dropped.length === COUNTS_SLICE
    },
  }
}

/** In the order of the keys, so that services that count the same ones do not deadlock. */
function add(transaction: Transaction, counts: readonly UsageCount[]): Promise<number> {
  const ordered = counts.toSorted((a, b) =>
    a.api_key_id === b.api_key_id ? a.slot - b.slot : a.api_key_id < b.api_key_id ? -1 : 1,
  )
  const sums = ['answered', 'limited', 'revoked'].map(
    (name) => `${name} = usage_counts.${name} + excluded.${name}`,
  )
  return insertGiven(
    transaction,
    'usage_counts',
    COLUMNS,
    ordered,
    sql`ON CONFLICT (slot, api_key_id) DO UPDATE SET ${raw(sums.join(', '))}`,
  )
}

/** Removes the first rows for which the condition holds. Rows of one slot stand together. */
function take(transaction: Transaction, where: Sql): Promise<UsageCount[]> {
  return transaction.all<UsageCount>(sql`
    WITH old AS MATERIALIZED (
      SELECT slot, api_key_id FROM usage_counts WHERE ${where}
      ORDER BY slot, api_key_id LIMIT ${raw(String(COUNTS_SLICE))}
    )
    DELETE FROM usage_counts WHERE (slot, api_key_id) IN (SELECT slot, api_key_id FROM old)
    RETURNING ${NAMES}`)
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
    SELECT slot FROM slots WHERE slot % ${raw(String(SLOTS_OF_HOUR))} <> 0 LIMIT 1`
}
