import type { DatabaseSync } from 'node:sqlite'
import type { Call, Decided } from '../../claims/call.ts'
import type { Decider } from '../../claims/decide.ts'
import type { QueueOptions } from '../../claims/queue.ts'
import { AuthenticationFault, invariant } from '../../model/faults.ts'
import { CLAIM_INTERVAL_US } from '../../model/claim.ts'
import type { RecentClaim } from './claim-rows.ts'
import type { Clock } from './clock.ts'
import { rollBack } from '../database.ts'
import { isLocked } from '../errors.ts'
import { createDecideCall } from './decide-call.ts'
import { createFileRevision } from './file-revision.ts'
import { createKeyRows } from './key-rows.ts'
import { createRecentClaims, MUST_WAIT, type RecentClaims } from './recent-claims.ts'
import type { BatchTimer } from './slow-batches.ts'

/** The event loop waits for each batch, so its size keeps a turn to a few milliseconds. */
export const SQLITE_QUEUE: QueueOptions = {
  batchMax: 256,
  waitMaxMs: 1_000,
  expiredReason:
    "not decided within 1000 ms: another process held the file's lock, or the service is overloaded",
}

export interface Claims extends Decider {
  /**
   * Decides a batch in one transaction; null if it must wait: the file is locked, or it was
   * restored and is not united yet, or lacks a claim of the last second.
   */
  claimBatch(calls: readonly Call[]): Decided[] | null
}

/** What may keep this process from deciding claims. */
export interface ClaimGuard {
  /** The reason at an instant of the monotonic clock. */
  faultAt(monotonic: number): AuthenticationFault | null
  /**
   * Whether the file with this version of the schema has all revocations of the journal. If not,
   * the batch waits until another connection has united them. May throw an AuthenticationFault.
   */
  isUnited(schema: number): boolean
}

const UNGUARDED: ClaimGuard = { faultAt: () => null, isUnited: () => true }

/**
 * Needs a connection of its own, whose `data_version` changes exactly when another one commits. It
 * may be lent for transactions that end before the next turn of the event loop, as those of
 * `managementConnection` do: a batch would roll back an open one.
 */
export function createClaims(
  database: DatabaseSync,
  bootId: string,
  clock: Clock,
  timer: BatchTimer,
  guard: ClaimGuard = UNGUARDED,
): Claims {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const endTransaction = database.prepare('COMMIT')
  const commit = () => {
    timer.commit()
    endTransaction.run()
  }
  const recent = createRecentClaims(database, bootId, clock.monotonic())
  // From here on the queue retries a locked file. A wait here would stop the event loop.
  database.exec('PRAGMA busy_timeout = 0')
  const keyRows = createKeyRows(database)
  const readRevision = createFileRevision(database, keyRows.clear)
  let lastStamp = 0
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
      const { revision, schema } = readRevision()
      // Another connection unites a restored file with the journal.
      if (!guard.isUnited(schema)) throw MUST_WAIT
      const batch = { granted: [], revision, now: clock.monotonic() }
      for (const call of calls) outcomes.push(decideCall(batch, call))
      recordClaims(batch.granted, schema)
      return outcomes
    } catch (error) {
      undo(database)
      if (error === MUST_WAIT) return null
      if (error instanceof AuthenticationFault) return calls.map(() => error)
      return outcomesOfRolledBack(calls, outcomes, notRecorded(error))
    }
  }

  function recordClaims(granted: readonly RecentClaim[], schema: number): void {
    // A failed read may have ended the transaction; a row appended now would be committed alone.
    if (!database.isTransaction) throw new Error('the transaction was ended by an error')
    const stamp = { claimed_at: clock.present(), monotonic: clock.monotonic() }
    const lost = guard.faultAt(stamp.monotonic)
    if (lost !== null) throw lost
    invariant(stamp.monotonic >= lastStamp, 'a stamp is not before the last one')
    assertSpaced(recent, granted, stamp.monotonic)
    lastStamp = stamp.monotonic
    recent.record(granted, stamp, schema, commit)
  }

  return withUpkeep(claimBatch, recent, timer)
}

/** The pair of the limit in `decide-call.ts`, at the other end of the batch. */
function assertSpaced(
  { lastUse }: RecentClaims,
  granted: readonly RecentClaim[],
  stamp: number,
): void {
  const serials = new Set<number>()
  for (const { serial, keyHash } of granted) {
    const last = lastUse(serial, keyHash)
    invariant(last === 0 || stamp - last >= CLAIM_INTERVAL_US, 'a key has its second')
    serials.add(serial)
  }
  invariant(serials.size === granted.length, 'a batch grants a key once')
}

function undo(database: DatabaseSync): void {
  try {
    rollBack(database)
    /* node:coverage ignore next 4 */
  } catch {
    // Only a disk that fails between two statements leads here. The next batch fails for the same
    // reason and reports it.
  }
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
  return calls.map((_, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) return fault
    return !(outcome instanceof Error) && outcome.outcome === 'granted' ? fault : outcome
  })
}

function notRecorded(error: unknown): AuthenticationFault {
  return new AuthenticationFault('keys could not be looked up or claims could not be recorded', {
    cause: error,
  })
}
