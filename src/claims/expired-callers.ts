import { createEpisodes } from '../log/episodes.ts'
import { AuthenticationFault } from '../model/faults.ts'
import type { Caller, Waiting } from './call.ts'
import type { ClaimMeter } from './meter.ts'

/** Callers rejected in one turn: thousands at once would delay every other answer. */
const REJECT_MAX = 256

/** How long a caller may wait, and what its fault says if it waited in vain. */
export interface Patience {
  /** From the request to the start of the batch that decides it, in milliseconds. */
  waitMaxMs: number
  /** What the log says about calls that no engine took in time. */
  expiredReason: string
  /** What the log says about calls whose key stayed busy; for an engine that reports `busy`. */
  busyReason?(apiKeyId: string): string
}

/** Callers that waited too long. No engine decides for them; they only have to be rejected. */
export interface ExpiredCallers {
  /** True if a caller that came at this instant has waited too long. */
  isDue(since: number): boolean
  /** Takes the expired callers of a key. False if it has no others. */
  takeFrom(key: Waiting): boolean
  /** Gives callers up, whatever their age. The id is that of a busy key. */
  add(callers: readonly Caller[], busy: string | null): void
  /** Rejects as many as one turn of the event loop should. */
  reject(): void
  count(): number
  /** To be called when an engine decided the key: the next lock is another one. */
  endEpisode(apiKeyId: string): void
}

export function createExpiredCallers(
  { waitMaxMs, expiredReason, busyReason = () => expiredReason }: Patience,
  now: () => number,
  meter: Pick<ClaimMeter, 'countShed'>,
): ExpiredCallers {
  const expired: { caller: Caller; busy: string | null }[] = []
  // An episode of a key begins with the first call that a lock held up for too long, and ends when
  // an engine decides the key again.
  const episodes = createEpisodes<AuthenticationFault>(() => {}, now)
  const busyFault = (id: string) => episodes.meet(() => new AuthenticationFault(busyReason(id)), id)
  const isDue = (since: number) => since <= now() - waitMaxMs

  function add(callers: readonly Caller[], busy: string | null): void {
    for (const caller of callers) {
      expired.push({ caller, busy })
      if (!caller.isProbe) meter.countShed(1)
    }
  }

  return {
    isDue,

    takeFrom(key) {
      const kept = key.callers.findIndex(({ since }) => !isDue(since))
      const count = kept === -1 ? key.callers.length : kept
      if (count > 0) add(key.callers.splice(0, count), key.busy)
      return kept !== -1
    },

    add,

    reject() {
      if (expired.length === 0) return
      // One shared error: under overload a stack trace per call would cost more than everything
      // else.
      const fault = new AuthenticationFault(expiredReason)
      for (const { caller, busy } of expired.splice(0, REJECT_MAX))
        caller.reject(busy === null ? fault : busyFault(busy))
    },

    count: () => expired.length,
    endEpisode: episodes.end,
  }
}
