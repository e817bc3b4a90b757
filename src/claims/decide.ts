import { AuthenticationFault } from '../model/faults.ts'
import type { Busy, Call, Decided, Outcome, Waiting } from './call.ts'

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

/** Where keys without an answer go, and what learns that a key was decided. */
export interface Destinations {
  park(key: Waiting, apiKeyId: string): void
  endEpisode(apiKeyId: string): void
}

/**
 * Has a batch decided and answers its callers. Returns a promise only if the decider does, and
 * false if nothing was decided.
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
  const broken = outcomes.length === batch.length ? null : wrongCount(batch, outcomes)
  for (let index = 0; index < batch.length; index += 1) {
    const [key, outcome] = [batch[index]!, broken ?? outcomes[index]!]
    if (isBusy(outcome)) to.park(key, outcome.apiKeyId)
    else answer(key, outcome, to)
  }
}

/** An outcome that stands at the place of another key must reach no caller. */
function wrongCount(batch: readonly Waiting[], outcomes: readonly Outcome[]): AuthenticationFault {
  return new AuthenticationFault(
    `an engine gave ${outcomes.length} outcomes for a batch of ${batch.length} keys`,
  )
}

/** The first caller took the second, so all others are limited. Any other outcome meets each. */
function answer({ callers }: Waiting, outcome: Decided, to: Destinations): void {
  if (outcome instanceof Error) {
    for (const { reject } of callers) reject(outcome)
    return
  }
  if ('apiKeyId' in outcome) to.endEpisode(outcome.apiKeyId)
  callers[0]!.resolve(outcome)
  if (callers.length === 1) return
  const other: Decided =
    outcome.outcome === 'granted' ? { outcome: 'limited', apiKeyId: outcome.apiKeyId } : outcome
  for (let index = 1; index < callers.length; index += 1) callers[index]!.resolve(other)
}

function isBusy(outcome: Outcome): outcome is Busy {
  return !(outcome instanceof Error) && outcome.outcome === 'busy'
}
