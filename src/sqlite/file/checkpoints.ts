import { closeSync, fdatasync, openSync, realpathSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Claims } from '../claims/claims.ts'
import type { BatchTimer } from '../claims/slow-batches.ts'

/** Batches between two flushes of the log. Each batch writes at least one page of 4 kB. */
const FLUSH_AFTER = 512
/** Batches between two checkpoints. */
const CHECKPOINT_AFTER = 4_096
/**
 * Pages in the log at which SQLite itself copies it with the next commit. The log grows to this
 * size if a flush is slow, or if only the dashboard writes.
 */
const LOG_PAGES_MAX = 8_192

/** Copies the write-ahead log into the database file, so that the log stays small. */
export interface Checkpoints {
  /** Call it after each batch. */
  noteBatch(): void
  close(): void
}

/**
 * A checkpoint waits for the disk on the thread that serves. The thread pool flushes the log to the
 * disk before, so that little is left to wait for. `others` are the process's other connections.
 * `flush` calls back when the bytes of a file are on the disk.
 */
export function createCheckpoints(
  path: string,
  claiming: DatabaseSync,
  others: readonly DatabaseSync[],
  timer: BatchTimer,
  flush: (file: number, done: () => void) => void = fdatasync,
): Checkpoints {
  for (const connection of [claiming, ...others])
    connection.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES_MAX}`)
  const checkpoint = claiming.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  const log = openSync(`${realpathSync(path)}-wal`, 'r')
  let unflushed = 0
  let uncopied = 0
  let isFlushing = false
  let isClosed = false

  /** A failed flush changes nothing: the checkpoint flushes the log, too. */
  function onFlushed(): void {
    isFlushing = false
    if (isClosed) closeSync(log)
    else if (uncopied >= CHECKPOINT_AFTER) copy()
  }

  function copy(): void {
    uncopied = 0
    timer.begin()
    try {
      checkpoint.get()
    } catch {
      // The log keeps what was not copied. SQLite ignores a failure of its own checkpoints, too.
    }
    timer.endCheckpoint()
  }

  return {
    noteBatch() {
      unflushed += 1
      uncopied += 1
      if (unflushed < FLUSH_AFTER || isFlushing) return
      unflushed = 0
      isFlushing = true
      flush(log, onFlushed)
    },

    close() {
      isClosed = true
      if (!isFlushing) closeSync(log)
    },
  }
}

/** The same claims, with checkpoints between batches. */
export function withCheckpoints(claims: Claims, checkpoints: Checkpoints): Claims {
  return {
    ...claims,
    claimBatch(calls) {
      const outcomes = claims.claimBatch(calls)
      if (outcomes !== null) checkpoints.noteBatch()
      return outcomes
    },
  }
}
