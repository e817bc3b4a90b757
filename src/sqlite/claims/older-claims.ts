import type { DatabaseSync } from 'node:sqlite'
import { CLAIM_INTERVAL_US } from '../../model/key-format.ts'
import { createSerialSet } from './serial-set.ts'

/**
 * `last_claims` keeps this many rows, or an eighth of the largest key number if that is more. Rows
 * that move together in large numbers share the pages that they move to.
 */
const ROWS_KEPT = 131_072
const SHARE_KEPT = 1 / 8
/** Rows that one step looks at. It takes about a millisecond. */
const MOVE_STEP = 512

/** Work in a transaction, and what changes in memory once it is committed. */
export interface Step {
  work(): void
  done(): void
}

/**
 * Moves rows of `last_claims` on, so that those of the keys in use lie close together. Under full
 * load the compaction goes first, and the table may exceed its bound.
 */
export interface OlderClaims {
  /** Notes that the key has a row in `last_claims`. */
  add(serial: number): void
  /** Makes the next step look at the table anew: a backup has replaced it. */
  lookAgain(): void
  /** The next step; null if there is none. `newestStamp` is on the monotonic clock. */
  plan(boot: number, newestStamp: number): Step | null
}

export function createOlderClaims(database: DatabaseSync): OlderClaims {
  const findLargest = database.prepare('SELECT max(serial) AS serial FROM api_keys')
  const findRows = database.prepare('SELECT api_key FROM last_claims LIMIT ?')
  findRows.setReturnArrays(true)
  const move = createMove(database)
  /** The keys with a row, as far as they are known. */
  const rows = createSerialSet()
  /** The largest number of a key at the last look. */
  let largestKnown = 0
  let mustLook = false
  /** The last row of the pass under way; null without one. */
  let movedTo: number | null = null

  function rowsKept(): number {
    return Math.max(ROWS_KEPT, SHARE_KEPT * Math.max(largestKnown, rows.largest()))
  }

  function look(): void {
    largestKnown = Number(findLargest.get()?.serial)
    rows.clear()
    movedTo = null
    for (const [serial] of findRows.iterate(rowsKept() + 1) as Iterable<unknown> as [number][])
      rows.add(serial)
    mustLook = false
  }

  look()
  return {
    add: rows.add,

    lookAgain() {
      mustLook = true
    },

    plan(boot, newestStamp) {
      if (mustLook) look()
      if (movedTo === null) {
        if (newestStamp === 0 || rows.size() <= rowsKept()) return null
        rows.clear()
        movedTo = 0
      }
      const after = movedTo
      let end: number | null = null
      return {
        work: () => (end = move(after, boot, newestStamp - CLAIM_INTERVAL_US)),
        done: () => (movedTo = end),
      }
    },
  }
}

/**
 * Moves the rows of the next keys, but for stamps of this boot since `since`: a start reads those
 * in `last_claims` only. Returns the last of these keys, or null if there are no more.
 */
function createMove(database: DatabaseSync) {
  const findEnd = database.prepare(
    `SELECT api_key FROM last_claims WHERE api_key > ? ORDER BY api_key LIMIT 1 OFFSET ${MOVE_STEP - 1}`,
  )
  const moved = 'api_key > ? AND api_key <= ? AND NOT (boot = ? AND monotonic >= ?)'
  const copy = database.prepare(`
    INSERT INTO older_claims (api_key, claimed_at) SELECT api_key, claimed_at FROM last_claims WHERE ${moved}
    ON CONFLICT (api_key) DO UPDATE SET claimed_at = excluded.claimed_at
  `)
  const remove = database.prepare(`DELETE FROM last_claims WHERE ${moved}`)

  return (after: number, boot: number, since: number): number | null => {
    const end = findEnd.get(after)?.api_key as number | undefined
    const range = [after, end ?? Number.MAX_SAFE_INTEGER, boot, since]
    copy.run(...range)
    remove.run(...range)
    return end ?? null
  }
}
