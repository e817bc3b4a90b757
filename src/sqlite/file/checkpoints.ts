import type { DatabaseSync } from 'node:sqlite'
import type { Claims } from '../claims/claims.ts'
import type { BatchTimer } from '../claims/slow-batches.ts'
import type { CheckpointThread } from './checkpoint-thread.ts'

/** Batches between two copies by the checkpoint thread. A batch writes at least a page of 4 kB. */
const COPY_AFTER = 512
/** Batches after which the serving thread copies the rest. */
const RESTART_AFTER = 4_096
/**
 * Pages in the log at which SQLite itself copies it with the next commit. The log grows to this
 * size if the disk is slow, or if only the dashboard writes.
 */
const LOG_PAGES_MAX = 8_192

/** Copies the write-ahead log into the database file, so that the log stays small. */
export interface Checkpoints {
  /** Call it after each batch. */
  noteBatch(): void
}

/**
 * The log starts anew only after a copy to its very end, which the serving thread makes between two
 * batches. A copy waits for the disk, so that the checkpoint thread copies nearly everything
 * before. `others` are the process's other connections.
 */
export function createCheckpoints(
  claiming: DatabaseSync,
  others: readonly DatabaseSync[],
  thread: Pick<CheckpointThread, 'copy'>,
  timer: BatchTimer,
): Checkpoints {
  for (const connection of [claiming, ...others])
    connection.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES_MAX}`)
  const checkpoint = claiming.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  let uncopied = 0
  let sinceRestart = 0
  let isCopying = false

  function onCopied(): void {
    isCopying = false
    if (sinceRestart >= RESTART_AFTER) copyRest()
  }

  function copyRest(): void {
    sinceRestart = 0
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
      uncopied += 1
      sinceRestart += 1
      if (uncopied < COPY_AFTER || isCopying) return
      uncopied = 0
      isCopying = true
      thread.copy(onCopied)
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
