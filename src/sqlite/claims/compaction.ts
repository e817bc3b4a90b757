import type { DatabaseSync } from 'node:sqlite'
import { transact } from '../database.ts'
import { createOlderClaims, type Step } from './older-claims.ts'
import { createSerialSet } from './serial-set.ts'
import type { Stamps } from './stamps.ts'
import { prepareRows } from './write-rows.ts'

/**
 * Rows in `recent_claims` before they are compacted into `last_claims`. More rows cost less each,
 * but make `last_used_at` slower to read.
 */
const COMPACT_AFTER = 32_768
/** Rows that one step writes or removes. It takes about a millisecond and outpaces full batches. */
const COMPACT_STEP = 512
const REMOVE_STEP = 2_048

/**
 * Compacts appended claims into one row per key, in small steps, in the order of that table.
 * Between two compactions it moves rows on to `older_claims`.
 */
export interface Compaction {
  /** Adds a committed row, by the number of its key. */
  add(serial: number): void
  /** Begins once there are enough rows. `newest` is the number of the newest row. */
  beginWhenDue(newest: number): void
  /** Makes the next step compact every row: some of them came back with a backup. */
  beginWithRestored(newest: number): void
  /**
   * Takes the next step, if there is one, in its own transaction. It does nothing if the schema is
   * not the given one, since a restore may have replaced the rows. `newestStamp` is on the
   * monotonic clock.
   */
  step(boot: number, schema: number, newestStamp: number): void
}

const upsert = (values: string) => `
  INSERT INTO last_claims (api_key, claimed_at, monotonic, boot) VALUES ${values}
  ON CONFLICT (api_key) DO UPDATE SET
    claimed_at = excluded.claimed_at, monotonic = excluded.monotonic, boot = excluded.boot
`

export function createCompaction(database: DatabaseSync, stamps: Stamps): Compaction {
  const writeLastClaims = createWriteLastClaims(database, stamps)
  const removeUpTo = database.prepare('DELETE FROM recent_claims WHERE number <= ?')
  const findSchema = database.prepare('PRAGMA schema_version')
  const older = createOlderClaims(database)

  // The rows that were appended since the last compaction began, and their keys.
  let rows = 0
  let appended = createSerialSet()
  // The compaction under way: its keys, the last one that is done, and the rows to remove
  // afterwards.
  let keys = createSerialSet()
  let compactedTo = 0
  let removedTo = 0
  let removeTo = 0
  let hasRestored = false

  /** The next step; null if there is none. */
  function plan(boot: number, newestStamp: number): Step | null {
    if (hasRestored) return { work: () => compactAll(database), done: () => (hasRestored = false) }
    const serials = keys.after(compactedTo, COMPACT_STEP)
    if (serials.length > 0)
      return {
        work: () => writeLastClaims(serials, boot),
        done() {
          compactedTo = serials.at(-1)!
          for (const serial of serials) older.add(serial)
        },
      }
    if (removedTo === removeTo) return older.plan(boot, newestStamp)
    const upTo = Math.min(removedTo + REMOVE_STEP, removeTo)
    return { work: () => removeUpTo.run(upTo), done: () => (removedTo = upTo) }
  }

  return {
    add(serial) {
      appended.add(serial)
      rows += 1
    },

    beginWhenDue(newest) {
      // Rows of the last compaction that are still there go with those of this one.
      if (rows < COMPACT_AFTER || compactedTo < keys.largest()) return
      keys.clear()
      ;[keys, appended] = [appended, keys]
      rows = compactedTo = 0
      removeTo = newest
    },

    beginWithRestored(newest) {
      hasRestored = true
      older.lookAgain()
      keys.clear()
      appended.clear()
      rows = compactedTo = 0
      removedTo = removeTo = newest
    },

    step(boot, schema, newestStamp) {
      const planned = plan(boot, newestStamp)
      if (planned === null) return
      const isDone = transact(database, () => {
        if (findSchema.get()?.schema_version !== schema) return false
        planned.work()
        return true
      })
      if (isDone) planned.done()
    },
  }
}

/** Writes the last use of each of these keys. */
function createWriteLastClaims(database: DatabaseSync, stamps: Stamps) {
  const write = prepareRows(database, 4, upsert)
  return (serials: readonly number[], boot: number): void => {
    write(serials.length, (index, values, at) => {
      const { claimed_at, monotonic } = stamps.get(serials[index]!)
      values[at] = serials[index]!
      values[at + 1] = claimed_at
      values[at + 2] = monotonic
      values[at + 3] = boot
    })
  }
}

/** Compacts all rows at once; their number is bounded. Needs an open transaction. */
export function compactAll(database: DatabaseSync): void {
  database.exec(`
    INSERT INTO last_claims (api_key, claimed_at, monotonic, boot)
      SELECT api_key, claimed_at, monotonic, boot
      FROM (SELECT api_key, claimed_at, monotonic, boot, max(number) FROM recent_claims GROUP BY api_key) WHERE true
    ON CONFLICT (api_key) DO UPDATE SET
      claimed_at = excluded.claimed_at, monotonic = excluded.monotonic, boot = excluded.boot;
    DELETE FROM recent_claims;
  `)
}
