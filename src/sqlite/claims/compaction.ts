import type { DatabaseSync } from 'node:sqlite'
import { transact } from '../database.ts'
import type { Stamps } from './stamps.ts'
import { prepareRows } from './write-rows.ts'

/**
 * Rows in `uses` before they are compacted into `last_uses`. More rows cost less each, but make
 * `last_used_at` slower to read.
 */
const COMPACT_AFTER = 32_768
/** Rows that one step writes or removes. It takes about a millisecond and outpaces full batches. */
const COMPACT_STEP = 512
const REMOVE_STEP = 2_048

/** Compacts appended claims into one row per key, in small steps, in the order of that table. */
export interface Compaction {
  /** Adds a committed row, by the number of its key. */
  add(serial: number): void
  /** Begins once there are enough rows. `newest` is the number of the newest row. */
  beginWhenDue(newest: number): void
  /** Makes the next step compact every row: some of them came back with a backup. */
  beginWithRestored(newest: number): void
  /**
   * Takes the next step, if there is one, in its own transaction. It does nothing if the schema is
   * not the given one, since a restore may have replaced the rows.
   */
  step(boot: number, schema: number): void
}

const upsert = (values: string) => `
  INSERT INTO last_uses (api_key, used_at, monotonic, boot) VALUES ${values}
  ON CONFLICT (api_key) DO UPDATE SET
    used_at = excluded.used_at, monotonic = excluded.monotonic, boot = excluded.boot
`

export function createCompaction(database: DatabaseSync, stamps: Stamps): Compaction {
  const writeLastUses = prepareRows(database, 4, upsert)
  const removeUpTo = database.prepare('DELETE FROM uses WHERE number <= ?')
  const findSchema = database.prepare('PRAGMA schema_version')

  // The keys of the rows that were appended since the last compaction began.
  const appended = createSerials()
  // The compaction under way: its keys in the order of their rows, how many are done, and the rows
  // to remove afterwards.
  let keys = new Float64Array()
  let compacted = 0
  let removedTo = 0
  let removeTo = 0
  let hasRestored = false

  /** The next step, and what changes in memory once it is committed; null if there is none. */
  function plan(boot: number): { work(): void; done(): void } | null {
    if (hasRestored) return { work: () => compactAll(database), done: () => (hasRestored = false) }
    if (compacted < keys.length) {
      const serials = keys.subarray(compacted, compacted + COMPACT_STEP)
      return {
        work: () => writeLastUses(rowsOf(serials, stamps, boot)),
        done: () => (compacted += serials.length),
      }
    }
    if (removedTo === removeTo) return null
    const upTo = Math.min(removedTo + REMOVE_STEP, removeTo)
    return { work: () => removeUpTo.run(upTo), done: () => (removedTo = upTo) }
  }

  return {
    add: appended.add,

    beginWhenDue(newest) {
      // Rows of the last compaction that are still there go with those of this one.
      if (appended.count() < COMPACT_AFTER || compacted < keys.length) return
      keys = appended.sorted()
      appended.clear()
      compacted = 0
      removeTo = newest
    },

    beginWithRestored(newest) {
      hasRestored = true
      keys = new Float64Array()
      compacted = 0
      removedTo = removeTo = newest
      appended.clear()
    },

    step(boot, schema) {
      const planned = plan(boot)
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

/** The values of one row per key. The numbers are sorted, and may repeat. */
function rowsOf(serials: Float64Array, stamps: Stamps, boot: number): number[] {
  const values: number[] = []
  let last = 0
  for (const serial of serials) {
    if (serial === last) continue
    const { used_at, monotonic } = stamps.get(serial)
    values.push(serial, used_at, monotonic, boot)
    last = serial
  }
  return values
}

/** The numbers of keys. Outside the garbage-collected heap, and reused for each compaction. */
function createSerials() {
  let serials = new Float64Array(COMPACT_AFTER)
  let length = 0

  return {
    add(serial: number): void {
      if (length === serials.length) {
        const larger = new Float64Array(2 * length)
        larger.set(serials)
        serials = larger
      }
      serials[length] = serial
      length += 1
    },

    count: () => length,

    sorted: () => serials.subarray(0, length).toSorted(),

    clear(): void {
      length = 0
    },
  }
}

/** Compacts all rows at once; their number is bounded. Needs an open transaction. */
export function compactAll(database: DatabaseSync): void {
  database.exec(`
    INSERT INTO last_uses (api_key, used_at, monotonic, boot)
      SELECT api_key, used_at, monotonic, boot
      FROM (SELECT api_key, used_at, monotonic, boot, max(number) FROM uses GROUP BY api_key) WHERE true
    ON CONFLICT (api_key) DO UPDATE SET
      used_at = excluded.used_at, monotonic = excluded.monotonic, boot = excluded.boot;
    DELETE FROM uses;
  `)
}
