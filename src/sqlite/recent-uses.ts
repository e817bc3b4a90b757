import type { DatabaseSync } from 'node:sqlite'
import { USE_INTERVAL } from '../listing/api-key.ts'
import type { Instant } from '../listing/instant.ts'
import { transact } from './database.ts'

/** The moment of a use, by both clocks. */
export interface Stamp {
  used_at: Instant
  monotonic: number
}

/** Rows appended to `uses` before they are folded into `last_uses`. More fold cheaper, and are slower to read. */
const FOLD_AFTER = 32_768
/** Rows that one step of folding writes, or removes: about a millisecond, and together more than a batch can append. */
const FOLD_STEP = 512
const REMOVE_STEP = 2_048

/**
 * The last use of every key: what the limit is decided on. Only the serving process records uses, so its memory of
 * them is exact; what an earlier process recorded within the last second is read when this one starts.
 *
 * A use is one appended row, many times cheaper than a change in the key's own row. When enough have come together
 * they are folded into one row a key, a step at a time, in the order of that table, and removed.
 */
export interface RecentUses {
  /** When the key was last used, on this boot's monotonic clock; 0 if that is more than a second ago. */
  lastUse(serial: number): number
  /** Appends a use within the transaction that is open. */
  append(serial: number, stamp: Stamp): void
  /** To be called when that transaction has ended: its uses are remembered if it was committed. */
  settle(committed: boolean): void
  /** Takes the next step of folding, if there is one, in a transaction of its own. */
  foldStep(): void
}

/** `boot` is the row of `boots` that this process's monotonic stamps belong to. */
export function createRecentUses(database: DatabaseSync, boot: number, now: number): RecentUses {
  foldAll(database)
  const insert = database.prepare(
    'INSERT INTO uses (number, api_key, used_at, monotonic, boot) VALUES (?, ?, ?, ?, ?)',
  )
  const upsert = database.prepare(`
    INSERT INTO last_uses (api_key, used_at, monotonic, boot) VALUES (?, ?, ?, ?)
    ON CONFLICT (api_key) DO UPDATE SET
      used_at = excluded.used_at, monotonic = excluded.monotonic, boot = excluded.boot
  `)
  const removeUpTo = database.prepare('DELETE FROM uses WHERE number <= ?')

  // By serial, two numbers each: serials are given out without gaps, so this is smaller than any map.
  let stamps = new Float64Array()
  readLastSecond()

  let pending: [serial: number, stamp: Stamp][] = []
  // The keys of the rows that were appended since the last folding began, and the number of the newest of them.
  let appended: number[] = []
  let newest = 0

  // The folding under way: its keys in the order of their rows, how many are done, and the rows to be removed then.
  let folding = new Float64Array()
  let folded = 0
  let removedTo = 0
  let removeTo = 0

  function readLastSecond(): void {
    const rows = database
      .prepare('SELECT api_key, used_at, monotonic FROM last_uses WHERE boot = ? AND monotonic > ?')
      .all(boot, now - USE_INTERVAL) as unknown as (Stamp & { api_key: number })[]
    for (const { api_key, ...stamp } of rows) remember(api_key, stamp)
  }

  function remember(serial: number, { monotonic, used_at }: Stamp): void {
    if (2 * serial >= stamps.length) {
      const larger = new Float64Array(4 * serial)
      larger.set(stamps)
      stamps = larger
    }
    stamps[2 * serial] = monotonic
    stamps[2 * serial + 1] = used_at
  }

  function settle(committed: boolean): void {
    if (committed)
      for (const [serial, stamp] of pending) {
        remember(serial, stamp)
        appended.push(serial)
      }
    // A commit that failed may have been one all the same: its numbers are not given again.
    newest += pending.length
    pending = []
    // Folded rows that are still to be removed are so with those of this folding.
    if (appended.length >= FOLD_AFTER && folded === folding.length) beginFolding()
  }

  function beginFolding(): void {
    // A key that was used twice is written twice: sorting out which are costs more.
    folding = Float64Array.from(appended).toSorted()
    folded = 0
    removeTo = newest
    appended = []
  }

  return {
    settle,

    lastUse(serial) {
      return stamps[2 * serial] ?? 0
    },

    append(serial, stamp) {
      pending.push([serial, stamp])
      insert.run(newest + pending.length, serial, stamp.used_at, stamp.monotonic, boot)
    },

    foldStep() {
      if (folded < folding.length) {
        const step = folding.subarray(folded, folded + FOLD_STEP)
        transact(database, () => {
          for (const serial of step)
            upsert.run(serial, stamps[2 * serial + 1]!, stamps[2 * serial]!, boot)
        })
        folded += step.length
      } else if (removedTo < removeTo) {
        const upTo = Math.min(removedTo + REMOVE_STEP, removeTo)
        transact(database, () => removeUpTo.run(upTo))
        removedTo = upTo
      }
    },
  }
}

/** What an earlier process appended, folded at once: the number of rows is bounded. */
function foldAll(database: DatabaseSync): void {
  transact(database, () =>
    database.exec(`
      INSERT INTO last_uses (api_key, used_at, monotonic, boot)
        SELECT api_key, used_at, monotonic, boot
        FROM (SELECT api_key, used_at, monotonic, boot, max(number) FROM uses GROUP BY api_key) WHERE true
      ON CONFLICT (api_key) DO UPDATE SET
        used_at = excluded.used_at, monotonic = excluded.monotonic, boot = excluded.boot;
      DELETE FROM uses;
    `),
  )
}
