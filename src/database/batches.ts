import { setTimeout as delay } from 'node:timers/promises'

const ROWS_FIRST = 1_000
const ROWS_MIN = 100
const ROWS_MAX = 10_000
/**
 * The time that a batch aims for. A serving process waits for the lock meanwhile, and gives up
 * after a second.
 */
const BATCH_MS = 100
/** The shortest pause between two batches beside a serving process. */
const PAUSE_SERVED_MS = 50
/** Pause if no process serves. Other commands retry the lock every 5 ms. */
const PAUSE_ALONE_MS = 10

/** The source of time. Tests pass one that they move by hand. */
export interface Pacing {
  /** In milliseconds. */
  now(): number
  pause(milliseconds: number): Promise<void>
}

const REAL: Pacing = { now: () => performance.now(), pause: delay }

/**
 * Splits a long write into batches of one transaction each, so that other processes wait only
 * briefly for the lock. `writeBatch` gets the most rows it may write and returns how many it wrote;
 * fewer means that none are left. `isServed` is asked after each batch, so that the pauses become
 * longer as soon as a service starts.
 */
export async function inBatches(
  writeBatch: (rowsMax: number) => Promise<number>,
  isServed: () => boolean = () => true,
  pacing: Pacing = REAL,
): Promise<void> {
  let rows = ROWS_FIRST
  for (;;) {
    const startedAt = pacing.now()
    const written = await writeBatch(rows)
    if (written < rows) return
    const took = pacing.now() - startedAt
    rows = nextSize(written, took)
    // A batch that was slow here probably slows the serving process, too.
    const pause = isServed() ? Math.max(PAUSE_SERVED_MS, took / 2) : PAUSE_ALONE_MS
    await pacing.pause(pause)
  }
}

/** Aims for BATCH_MS. The size shrinks at once, and at most doubles. */
function nextSize(rows: number, milliseconds: number): number {
  const fitting = Math.floor((rows * BATCH_MS) / milliseconds)
  return Math.max(ROWS_MIN, Math.min(ROWS_MAX, 2 * rows, fitting))
}
