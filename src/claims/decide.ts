import type { AuthenticationFault } from '../model/faults.ts'
import {
  type Busy,
  type Call,
  type Decided,
  type Outcome,
  outcomeOfDuplicate,
  type Waiting,
} from './call.ts'

/** What an engine supplies: it decides one batch at a time. */
export interface Decider {
  /**
   * The outcome of each call; null if the whole database is locked and nothing was decided. A
   * rejection is the fault of every call in the batch.
   */
  claimBatch(calls: readonly Call[]): Outcome[] | null | Promise<Outcome[]>
  /** To be called when no batch is under way. */
  close(): void
}

/** Where calls without an answer go, and what learns that a key was decided. */
export interface Destinations {
  park(call: Waiting, apiKeyId: string): void
  endEpisode(apiKeyId: string): void
}

/**
 * Has a batch decided and answers its calls. Returns a promise only if the decider does, and false
 * if nothing was decided.
 */
export function decide(
  decider: Decider,
  batch: readonly Waiting[],
  to: Destinations,
): Promise<void> | boolean {
  const decided = decider.claimBatch(batch)
  if (decided instanceof Promise) {
    // A failed batch is never retried: a lost acknowledgement may hide a commit.
    const faults = (error: unknown) => batch.map(() => error as AuthenticationFault)
    return decided.catch(faults).then((outcomes) => settle(batch, outcomes, to))
  }
  if (decided === null) return false
  settle(batch, decided, to)
  return true
}

function settle(batch: readonly Waiting[], outcomes: readonly Outcome[], to: Destinations): void {
  for (let index = 0; index < batch.length; index += 1) {
    const [call, outcome] = [batch[index]!, outcomes[index]!]
    if (isBusy(outcome)) to.park(call, outcome.apiKeyId)
    else answer(call, outcome, to)
  }
}

function answer(call: Waiting, outcome: Decided, to: Destinations): void {
  if (outcome instanceof Error) call.reject(outcome)
  else {
    if ('apiKeyId' in outcome) to.endEpisode(outcome.apiKeyId)
    call.resolve(outcome)
  }
  if (call.busy === null) return
  for (const follower of call.busy.followers) answer(follower, outcomeOfDuplicate(outcome), to)
}

function isBusy(outcome: Outcome): outcome is Busy {
  return !(outcome instanceof Error) && outcome.outcome === 'busy'
}
