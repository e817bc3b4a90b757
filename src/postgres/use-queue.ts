import { AuthenticationFault } from '../listing/faults.ts'
import type { Recall, Use } from '../listing/store.ts'
import type { Call, Outcome } from './uses.ts'

/** Calls decided in one statement at most. */
const BATCH_MAX = 1_024
/** How long a call may wait for the batches before it. */
const WAIT_MAX_MS = 800

interface Waiting extends Call {
  since: number
  resolve(use: Use): void
  reject(fault: Error): void
}

export interface UseQueue {
  useApiKey(keyHash: Uint8Array, recall: Recall): Promise<Use>
  /** Decides what is waiting, and refuses all that comes after. */
  close(): Promise<void>
}

/**
 * Gathers the calls of one turn of the event loop, and those that come while a batch is under way, has them decided
 * together, and gives each its outcome. `decide` rejects where nothing could be decided.
 */
export function createUseQueue(decide: (calls: readonly Call[]) => Promise<Outcome[]>): UseQueue {
  let waiting: Waiting[] = []
  let working: Promise<void> | null = null
  let isClosed = false

  async function work(): Promise<void> {
    await new Promise(setImmediate)
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(BATCH_MAX)
      await settle(dropOld(batch))
    }
    working = null
  }

  /** Calls that waited too long are given up before anything is done for them. */
  function dropOld(batch: readonly Waiting[]): Waiting[] {
    const tooOld = performance.now() - WAIT_MAX_MS
    return batch.filter((call) => {
      if (call.since > tooOld) return true
      call.reject(new AuthenticationFault(`the database had no answer for ${WAIT_MAX_MS} ms`))
      return false
    })
  }

  async function settle(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return
    try {
      const outcomes = await decide(batch)
      for (const [index, call] of batch.entries()) {
        const outcome = outcomes[index]!
        if (outcome instanceof Error) call.reject(outcome)
        else call.resolve(outcome)
      }
    } catch (error) {
      for (const call of batch) call.reject(error as Error)
    }
  }

  return {
    useApiKey(keyHash, recall) {
      if (isClosed) return Promise.reject(new AuthenticationFault('the store is closed'))
      return new Promise((resolve, reject) => {
        waiting.push({ keyHash, recall, since: performance.now(), resolve, reject })
        working ??= work()
      })
    },

    async close() {
      isClosed = true
      await working
    },
  }
}
