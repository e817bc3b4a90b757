import type { DatabaseSync } from 'node:sqlite'
import { COUNTS_SLICE, type UseCount, type UseCountStore } from '../listing/use-counts.ts'
import { transact } from './database.ts'

/**
 * Written on the connection that records uses: a commit of any other one would make every remembered listing be read
 * again.
 */
export function writeUseCounts(
  claiming: DatabaseSync,
): Pick<UseCountStore, 'addUseCounts' | 'dropUseCounts'> {
  const add = claiming.prepare(`
    INSERT INTO use_counts (slot, api_key_id, answered, limited, revoked)
    VALUES (:slot, :api_key_id, :answered, :limited, :revoked)
    ON CONFLICT (api_key_id, slot) DO UPDATE SET answered = answered + excluded.answered,
      limited = limited + excluded.limited, revoked = revoked + excluded.revoked
  `)
  const drop = claiming.prepare(`
    DELETE FROM use_counts WHERE (api_key_id, slot) IN
      (SELECT api_key_id, slot FROM use_counts WHERE slot < ? LIMIT ${COUNTS_SLICE})
  `)

  return {
    async addUseCounts(counts) {
      transact(claiming, () => {
        for (const count of counts.slice(0, COUNTS_SLICE)) add.run({ ...count })
      })
    },

    async dropUseCounts(beforeSlot) {
      return drop.run(beforeSlot).changes === COUNTS_SLICE
    },
  }
}

export function readUseCounts(database: DatabaseSync): Pick<UseCountStore, 'listUseCounts'> {
  const list = database.prepare(`
    SELECT api_key_id, use_counts.slot, answered, limited, revoked
    FROM api_keys JOIN use_counts ON api_key_id = api_keys.id
    WHERE user_id = ? AND use_counts.slot >= ?
  `)
  return {
    async listUseCounts(userId, fromSlot) {
      return list.all(userId, fromSlot) as unknown as UseCount[]
    },
  }
}
