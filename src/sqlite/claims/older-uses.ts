import type { DatabaseSync } from 'node:sqlite'
import { CLAIM_INTERVAL_US } from '../../listing/api-key.ts'
import { createSerialSet } from './serial-set.ts'

/**
 * Rows in `last_uses` before they move to `older_uses`: this many, or an eighth of all keys. Many
 * rows at a time share the pages that they move to.
 */
const ROWS_MIN = 131_072
const SHARE_OF_KEYS = 1 / 8
/** Rows that one step looks at. It takes about a millisecond. */
const MOVE_STEP = 512

/** Work in a transaction, and what changes in memory once it is committed. */
export interface Step {
  work(): void
  done(): void
}

/** Moves rows on, so that `last_uses` has the keys in use close together. */
export interface OlderUses {
  /** Notes that the key has a row in `last_uses`. */
  add(serial: number): void
  /** The next step; null if there is none. `newest` is the newest monotonic stamp of this boot. */
  plan(boot: number, newest: number): Step | null
}

export function createOlderUses(database: DatabaseSync): OlderUses {
  const move = createMove(database)
  /** Rows that an earlier process left. */
  let left = countRows(database, ROWS_MIN + 1)
  const added = createSerialSet()
  /** The last row of the pass under way; null without one. */
  let movedTo: number | null = null

  function isDue(): boolean {
    return left + added.size() > Math.max(ROWS_MIN, SHARE_OF_KEYS * added.largest())
  }

  return {
    add: added.add,

    plan(boot, newest) {
      if (movedTo === null) {
        if (newest === 0 || !isDue()) return null
        left = 0
        added.clear()
        movedTo = 0
      }
      const after = movedTo
      let end: number | null = null
      return {
        work: () => (end = move(after, boot, newest - CLAIM_INTERVAL_US)),
        done: () => (movedTo = end),
      }
    },
  }
}

function countRows(database: DatabaseSync, most: number): number {
  const counted = database.prepare('SELECT count(*) AS n FROM (SELECT 1 FROM last_uses LIMIT ?)')
  return Number(counted.get(most)?.n)
}

/**
 * Moves the rows of the next keys, but for stamps of this boot since `since`: a start reads those
 * in `last_uses` only. Returns the last of these keys, or null if there are no more.
 */
function createMove(database: DatabaseSync) {
  const findEnd = database.prepare(
    `SELECT api_key FROM last_uses WHERE api_key > ? ORDER BY api_key LIMIT 1 OFFSET ${MOVE_STEP - 1}`,
  )
  const moved = 'api_key > ? AND api_key <= ? AND NOT (boot = ? AND monotonic >= ?)'
  const copy = database.prepare(`
    INSERT INTO older_uses (api_key, used_at) SELECT api_key, used_at FROM last_uses WHERE ${moved}
    ON CONFLICT (api_key) DO UPDATE SET used_at = excluded.used_at
  `)
  const remove = database.prepare(`DELETE FROM last_uses WHERE ${moved}`)

  return (after: number, boot: number, since: number): number | null => {
    const end = findEnd.get(after)?.api_key as number | undefined
    const range = [after, end ?? Number.MAX_SAFE_INTEGER, boot, since]
    copy.run(...range)
    remove.run(...range)
    return end ?? null
  }
}
