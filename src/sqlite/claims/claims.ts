import type { DatabaseSync } from 'node:sqlite'
import type { Call, Decided } from '../../claims/call.ts'
import type { Decider } from '../../claims/decide.ts'
import type { QueueOptions } from '../../claims/queue.ts'
import { AuthenticationFault, ListFault } from '../../listing/faults.ts'
import type { Clock } from './clock.ts'
import { rollBack } from '../database.ts'
import { isLocked } from '../errors.ts'
import { type Batch, createDecideCall } from './decide-call.ts'
import { createFileRevision } from './file-revision.ts'
import { createKeyRows } from './key-rows.ts'
import { createRecentClaims, type RecentClaim, type RecentClaims } from './recent-claims.ts'
import type { BatchTimer } from './slow-batches.ts'

/** The event loop waits for each batch, so its size keeps a turn to a few milliseconds. */
export const SQLITE_QUEUE: QueueOptions = {
  batchMax: 256,
  waitMaxMs: 1_000,
  expiredReason:
    "not decided within 1000 ms: another process held the file's lock, or the service is overloaded",
}

export interface Claims extends Decider {
  /** Decides a batch in one transaction; null if another process holds the file's lock. */
  claimBatch(calls: readonly Call[]): Decided[] | null
}

/**
 * Needs its own connection, whose `data_version` then changes exactly when another one commits.
 * `faultAt` says why this process may decide no claim at an instant of the monotonic clock.
 */
export function createClaims(
  database: DatabaseSync,
  bootId: string,
  clock: Clock,
  timer: BatchTimer,
  faultAt: (monotonic: number) => AuthenticationFault | null = () => null,
): Claims {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const recent = createRecentClaims(database, bootId, clock.monotonic())
  // From here on the queue retries a locked file. A wait here would stop the event loop.
  database.exec('PRAGMA busy_timeout = 0')
  const keyRows = createKeyRows(database)
  const readRevision = createFileRevision(database, () => {
    keyRows.clear()
    recent.noticeChange()
  })
  const decideCall = createDecideCall(database, keyRows, recent.lastUse)

  function claimBatch(calls: readonly Call[]): Decided[] | null {
    try {
      rollBack(database)
      begin.run()
    } catch (error) {
      if (isLocked(error)) return null
      return calls.map(() => notRecorded(error))
    }
    const outcomes: Decided[] = []
    try {
      const [revision, now] = [readRevision(), clock.monotonic()]
      const batch = { calls, outcomes, candidates: new Map<number, number>(), revision, now }
      for (let index = 0; index < calls.length; index += 1)
        outcomes.push(decideCall(batch, calls[index]!, index))
      recordClaims(batch)
      return outcomes
    } catch (error) {
      undo()
      if (error instanceof AuthenticationFault) return calls.map(() => error)
      return outcomesOfRolledBack(calls, outcomes, notRecorded(error))
    }
  }

  function undo(): void {
    try {
      rollBack(database)
    } catch {
      // The next batch fails for the same reason and reports it.
    }
    recent.settle(false)
  }

  /** Records the candidates that got their list. They count once the commit has succeeded. */
  function recordClaims({ calls, outcomes, candidates }: Batch): void {
    // A failed read may have ended the transaction; a row appended now would be committed alone.
    if (!database.isTransaction) throw new Error('the transaction was ended by an error')
    const stamp = { used_at: clock.present(), monotonic: clock.monotonic() }
    const lost = faultAt(stamp.monotonic)
    if (lost !== null) throw lost
    const granted: RecentClaim[] = []
    for (const [serial, index] of candidates)
      if (!(outcomes[index] instanceof ListFault))
        granted.push({ serial, keyHash: calls[index]!.keyHash })
    recent.append(granted, stamp)
    timer.commit()
    commit.run()
    recent.settle(true)
  }

  return withUpkeep(claimBatch, recent, timer)
}

/** Times each batch. Compacts a little in a later turn, so that the answers go first. */
function withUpkeep(
  claimBatch: Claims['claimBatch'],
  recent: RecentClaims,
  timer: BatchTimer,
): Claims {
  let isClosed = false

  /** The next batch meets, and reports, whatever makes a step fail. */
  function compactStep(): void {
    if (isClosed) return
    try {
      recent.compactStep()
    } catch {}
  }

  return {
    claimBatch(calls) {
      timer.begin()
      const outcomes = claimBatch(calls)
      timer.end(calls.length)
      if (outcomes !== null) setImmediate(compactStep)
      return outcomes
    },

    close() {
      isClosed = true
    },
  }
}

/** Read-only outcomes stand; outcomes that depended on the failed commit become the fault. */
function outcomesOfRolledBack(
  calls: readonly Call[],
  outcomes: readonly Decided[],
  fault: AuthenticationFault,
): Decided[] {
  const rolledBack = new Set<string>()
  for (const outcome of outcomes)
    if (!(outcome instanceof Error) && outcome.outcome === 'granted')
      rolledBack.add(outcome.apiKeyId)
  return calls.map((_, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) return fault
    return 'apiKeyId' in outcome && rolledBack.has(outcome.apiKeyId) ? fault : outcome
  })
}

function notRecorded(error: unknown): AuthenticationFault {
  return new AuthenticationFault('keys could not be looked up or claims could not be recorded', {
    cause: error,
  })
}
