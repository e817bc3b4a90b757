import { asOne, callsOf, hashText, type Waiting } from './call.ts'
import type { ExpiredCalls } from './expired-calls.ts'

/** A busy call is retried after as long as it has waited already, within these bounds. */
const RETRY_MIN_MS = 4
const RETRY_MAX_MS = 40

/** The busy calls between two tries. Calls with one key are retried as one. */
export interface BusyCalls {
  /** Parks a new call beside earlier ones with its key. False if there are none. */
  join(call: Waiting): boolean
  park(call: Waiting, apiKeyId: string): void
  /** Retries all parked calls at once, and from then on gives up what is still busy. */
  close(): void
}

export function createBusyCalls(
  expired: ExpiredCalls,
  now: () => number,
  retry: (call: Waiting) => void,
): BusyCalls {
  const parked = new Map<string, Parked>()
  let isClosed = false

  function wake(key: string): void {
    const { calls, apiKeyId, timer } = parked.get(key)!
    clearTimeout(timer)
    parked.delete(key)
    retry(asOne(calls, apiKeyId))
  }

  return {
    join(call) {
      const others = parked.size === 0 ? undefined : parked.get(hashText(call.keyHash))
      others?.calls.push(call)
      return others !== undefined
    },

    park(call, apiKeyId) {
      const kept = expired.withoutExpired(asOne(callsOf(call), apiKeyId))
      if (kept === null) return
      if (isClosed) {
        expired.add(kept, apiKeyId)
        return
      }
      const key = hashText(kept.keyHash)
      const others = parked.get(key)
      if (others !== undefined) {
        others.calls.push(...callsOf(kept))
        return
      }
      const waited = now() - kept.since
      const delay = Math.min(Math.max(waited, RETRY_MIN_MS), RETRY_MAX_MS)
      const timer = setTimeout(wake, delay, key)
      parked.set(key, { calls: callsOf(kept), apiKeyId, timer })
    },

    close() {
      isClosed = true
      for (const key of parked.keys()) wake(key)
    },
  }
}

interface Parked {
  calls: Waiting[]
  apiKeyId: string
  timer: NodeJS.Timeout
}
