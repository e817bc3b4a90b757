import { createEpisodes } from '../log/episodes.ts'
import { AuthenticationFault } from '../model/faults.ts'
import { asOne, callsOf, type Waiting } from './call.ts'
import type { ClaimMeter } from './meter.ts'

/** Calls rejected in one turn: thousands at once would delay every other answer. */
const REJECT_MAX = 256

/** How long a call may wait, and what its fault says if it waited in vain. */
export interface Patience {
  /** From the request to the start of the batch that decides it, in milliseconds. */
  waitMaxMs: number
  /** What the log says about calls that no engine took in time. */
  expiredReason: string
  /** What the log says about calls whose key stayed busy; for an engine that reports `busy`. */
  busyReason?(apiKeyId: string): string
}

/** The calls that waited too long. No engine sees them any more; they only have to be rejected. */
export interface ExpiredCalls {
  /** Takes the expired calls out of a list in order of arrival. */
  takeFrom(waiting: Waiting[]): void
  /**
   * A busy call without those of its followers that expired, or a probe. Null if nothing is left.
   */
  withoutExpired(call: Waiting): Waiting | null
  /** Gives a busy call up, with its followers, whatever their age. */
  add(call: Waiting, apiKeyId: string): void
  /** Rejects as many as one turn of the event loop should. */
  reject(): void
  count(): number
  /** To be called when an engine decided the key: the next lock is another one. */
  endEpisode(apiKeyId: string): void
}

export function createExpiredCalls(
  { waitMaxMs, expiredReason, busyReason = () => expiredReason }: Patience,
  now: () => number,
  meter: Pick<ClaimMeter, 'countShed'>,
): ExpiredCalls {
  let expired: Waiting[] = []
  // An episode of a key begins with the first call that a lock held up for too long, and ends when
  // an engine decides the key again.
  const episodes = createEpisodes((id) => new AuthenticationFault(busyReason(id)), now)

  function add(call: Waiting, apiKeyId: string): void {
    const calls = callsOf(call)
    for (const one of calls) expired.push(asOne([one], apiKeyId))
    meter.countShed(calls.length)
  }

  return {
    takeFrom(waiting) {
      const tooOld = now() - waitMaxMs
      const kept = waiting.findIndex(({ since }) => since > tooOld)
      const count = kept === -1 ? waiting.length : kept
      if (count === 0) return
      expired = expired.concat(waiting.splice(0, count))
      meter.countShed(count)
    },

    withoutExpired(call) {
      const tooOld = now() - waitMaxMs
      const calls = callsOf(call)
      const kept = calls.filter(({ since }) => since > tooOld)
      if (kept.length === calls.length) return call
      if (call.busy === null) {
        expired.push(call)
        return null
      }
      const { apiKeyId } = call.busy
      for (const one of calls) if (one.since <= tooOld) add(one, apiKeyId)
      return kept.length === 0 ? null : asOne(kept, apiKeyId)
    },

    add,

    reject() {
      if (expired.length === 0) return
      // One shared error: under overload a stack trace per call would cost more than everything
      // else.
      const fault = new AuthenticationFault(expiredReason)
      for (const { busy, reject } of expired.splice(0, REJECT_MAX))
        reject(busy === null ? fault : episodes.faultOf(busy.apiKeyId))
    },

    count: () => expired.length,
    endEpisode: episodes.end,
  }
}
