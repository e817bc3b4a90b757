import type { Backlog } from './backlog.ts'
import type { Waiting } from './call.ts'
import type { ExpiredCallers } from './expired-callers.ts'

/** A busy key is retried after as long as it has waited already, within these bounds. */
const RETRY_MIN_MS = 4
const RETRY_MAX_MS = 40

/** The busy keys between two tries. */
export interface BusyKeys {
  park(key: Waiting, apiKeyId: string): void
  /** Retries all parked keys at once, and from then on gives up what is still busy. */
  close(): void
}

export function createBusyKeys(
  backlog: Pick<Backlog, 'park' | 'addAhead'>,
  expired: ExpiredCallers,
  now: () => number,
  schedule: () => void,
): BusyKeys {
  const timers = new Map<Waiting, NodeJS.Timeout>()
  let isClosed = false

  function wake(key: Waiting): void {
    clearTimeout(timers.get(key))
    timers.delete(key)
    backlog.addAhead(key)
    schedule()
  }

  return {
    park(key, apiKeyId) {
      key.busy = apiKeyId
      if (!expired.takeFrom(key)) return
      if (isClosed) {
        expired.add(key.callers, apiKeyId)
        return
      }
      if (!backlog.park(key)) return
      const waited = now() - key.callers[0]!.since
      const delay = Math.min(Math.max(waited, RETRY_MIN_MS), RETRY_MAX_MS)
      timers.set(key, setTimeout(wake, delay, key))
    },

    close() {
      isClosed = true
      for (const key of timers.keys()) wake(key)
    },
  }
}
