import type { DatabaseSync } from 'node:sqlite'
import {
  COUNTS_SLICE,
  SLOTS_KEPT,
  type UseCount,
  type UseCountStore,
} from '../listing/use-counts.ts'
import { transact } from './database.ts'

/**
 * Written on the connection that records uses: a commit of any other one would make every remembered listing be read
 * again.
 */
export function writeUseCounts(
  claiming: DatabaseSync,
): Pick<UseCountStore, 'addUseCounts' | 'dropUseCounts'> {
  const add = claiming.prepare(`
    INSERT INTO use_counts (slot, api_key_id, answered, limited, revoked) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (slot, api_key_id) DO UPDATE SET answered = answered + excluded.answered,
      limited = limited + excluded.limited, revoked = revoked + excluded.revoked
  `)
  const drop = claiming.prepare(`
    DELETE FROM use_counts WHERE (slot, api_key_id) IN
      (SELECT slot, api_key_id FROM use_counts WHERE slot < ? LIMIT ${COUNTS_SLICE})
  `)

  return {
    async addUseCounts(counts) {
      transact(claiming, () => {
        const slice = counts.slice(0, COUNTS_SLICE)
        for (const { slot, api_key_id, answered, limited, revoked } of slice)
          add.run(slot, api_key_id, answered, limited, revoked)
      })
    },

    async dropUseCounts(beforeSlot) {
      return drop.run(beforeSlot).changes === COUNTS_SLICE
    },
  }
}

export function readUseCounts(database: DatabaseSync): Pick<UseCountStore, 'listUseCounts'> {
  // Slot by slot, as the rows stand. So many at most: a clock that was far ahead may have left one in the future.
  const list = database.prepare(`
    WITH RECURSIVE slots (slot) AS (
      SELECT max(?, min(slot)) FROM use_counts
      UNION ALL SELECT slot + 1 FROM slots WHERE slot < (SELECT max(slot) FROM use_counts)
      LIMIT ${SLOTS_KEPT}
    )
    SELECT api_key_id, use_counts.slot, answered, limited, revoked
    FROM slots CROSS JOIN json_each(?) AS ids
    CROSS JOIN use_counts ON use_counts.slot = slots.slot AND api_key_id = ids.value
  `)
  return {
    async listUseCounts(apiKeyIds, fromSlot) {
      return list.all(fromSlot, JSON.stringify(apiKeyIds)) as unknown as UseCount[]
    },
  }
}
