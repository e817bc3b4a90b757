import { AuthenticationFault } from '../listing/faults.ts'
import type { Recall, Use } from '../listing/store.ts'
import type { Call, Uses } from './uses.ts'

/** Calls decided in one transaction at most, so that one turn of the event loop stays a matter of milliseconds. */
const BATCH_MAX = 256
/** How often a batch that found the file locked is tried again. */
const LOCK_RETRY_MS = 5
/** How long a call waits, for the lock or behind others, before it is given up. */
const WAIT_MAX_MS = 1_000

interface Waiting extends Call {
  since: number
  resolve(use: Use): void
  reject(fault: Error): void
}

export interface UseQueue {
  useApiKey(keyHash: Uint8Array, recall: Recall): Promise<Use>
  /** Decides what is waiting, once, and refuses the rest and all that comes after. */
  close(): void
}

/**
 * Gathers the calls of one turn of the event loop, has them decided together, and gives each its outcome. `now` is in
 * milliseconds.
 */
export function createUseQueue(uses: Uses, now: () => number = () => performance.now()): UseQueue {
  /** In the order of their coming. */
  let waiting: Waiting[] = []
  /** Those that waited for too long, and are still to be told so. */
  let late: Waiting[] = []
  let isScheduled = false
  /** Set while the file was found locked; it is not tried again before `retryAt`. */
  let retry: NodeJS.Timeout | null = null
  let retryAt = 0
  let isClosed = false

  function schedule(): void {
    if (isScheduled || retry !== null) return
    isScheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    isScheduled = false
    decide()
    refuseLate()
    if (waiting.length + late.length > 0) schedule()
  }

  function decide(): void {
    setLateAside()
    const batch = waiting.slice(0, BATCH_MAX)
    if (batch.length === 0) return
    const outcomes = uses.useTogether(batch)
    if (outcomes === null) {
      retryAt = now() + LOCK_RETRY_MS
      retry ??= setTimeout(() => {
        retry = null
        flush()
      }, LOCK_RETRY_MS)
      return
    }
    waiting = waiting.slice(BATCH_MAX)
    for (const [index, call] of batch.entries()) {
      const outcome = outcomes[index]!
      if (outcome instanceof Error) call.reject(outcome)
      else call.resolve(outcome)
    }
    // In a later turn: the answers go first.
    setImmediate(tidy)
  }

  function setLateAside(): void {
    const tooOld = now() - WAIT_MAX_MS
    const kept = waiting.findIndex((call) => call.since > tooOld)
    late = late.concat(waiting.splice(0, kept === -1 ? waiting.length : kept))
  }

  /** So many in one turn at most: thousands of answers at once would keep everybody else waiting for theirs. */
  function refuseLate(): void {
    if (late.length === 0) return
    // One for all: where much is refused, as many stacks would cost more than the rest of it.
    const fault = new AuthenticationFault(
      `not decided within ${WAIT_MAX_MS} ms: another process held the lock, or too much was asked`,
    )
    for (const call of late.splice(0, BATCH_MAX)) call.reject(fault)
  }

  function tidy(): void {
    if (isClosed) return
    try {
      uses.tidy()
    } catch {
      // Whatever stood in the way is met, and reported, by the next use; the step is taken again after it.
    }
  }

  return {
    useApiKey(keyHash, recall) {
      if (isClosed) return Promise.reject(new AuthenticationFault('the store is closed'))
      return new Promise((resolve, reject) => {
        waiting.push({ keyHash, recall, since: now(), resolve, reject })
        // In a turn of the event loop in which more arrive than one batch takes, the rest would only grow old.
        if (waiting.length >= BATCH_MAX && now() >= retryAt) decide()
        if (waiting.length > 0) schedule()
      })
    },

    close() {
      isClosed = true
      decide()
      const fault = new AuthenticationFault('the store is closed')
      for (const call of [...late, ...waiting]) call.reject(fault)
      late = []
      waiting = []
    },
  }
}
