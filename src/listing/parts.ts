import { setTimeout as delay } from 'node:timers/promises'

/** How many rows a part has: the first, and the bounds of the next ones. */
const PART_FIRST = 1_000
const PART_MIN = 100
const PART_MAX = 10_000
/** What a part may take, or nearly so: while it is written a serving process waits, and gives up after a second. */
const PART_MS = 100
/** Rest between two parts, in which a serving process gets the lock it retries every few milliseconds. */
const REST_MIN_MS = 50

/** Where time comes from. Tests pass one that they move by hand. */
export interface Pace {
  /** In milliseconds. */
  now(): number
  rest(milliseconds: number): Promise<void>
}

const REAL: Pace = { now: () => performance.now(), rest: delay }

/**
 * Does long work on a store in parts, each a transaction, so that nobody beside it waits long. `work` is given how many
 * rows it may do, and returns how many it did: fewer when nothing is left.
 */
export async function inParts(
  work: (rows: number) => Promise<number>,
  pace: Pace = REAL,
): Promise<void> {
  let size = PART_FIRST
  for (;;) {
    const startedAt = pace.now()
    const done = await work(size)
    if (done < size) return
    const took = pace.now() - startedAt
    size = sizeAfter(done, took)
    // Where this process was slow the other one will be.
    await pace.rest(Math.max(REST_MIN_MS, took / 2))
  }
}

/** The size of the next part, by what the last one took. It shrinks at once, and grows by steps. */
function sizeAfter(size: number, milliseconds: number): number {
  const fitting = Math.floor((size * PART_MS) / milliseconds)
  return Math.max(PART_MIN, Math.min(PART_MAX, 2 * size, fitting))
}
