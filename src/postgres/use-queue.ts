import { AuthenticationFault } from '../listing/faults.ts'
import type { Recall, Use } from '../listing/store.ts'
import type { UseConnection } from './use-connection.ts'
import type { Call } from './uses.ts'

/** Calls decided in one statement at most: more cost little less each, and keep the other connection idle. */
const BATCH_MAX = 128
/** Calls that are told in one turn that they waited for too long. */
const LATE_MAX = 256
/** How long a call may wait for the batches before it, in milliseconds. */
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
 * Gathers the calls of one turn of the event loop, and those that come while all connections are at work, has them
 * decided together, and gives each its outcome. `now` is in milliseconds.
 */
export function createUseQueue(
  connections: readonly UseConnection[],
  batchMax = BATCH_MAX,
  now: () => number = () => performance.now(),
): UseQueue {
  /** In the order of their coming. */
  let waiting: Waiting[] = []
  /** Those that waited for too long, and are still to be told so. */
  let late: Waiting[] = []
  const idle = [...connections]
  const working = new Set<Promise<void>>()
  let isScheduled = false
  let isClosed = false

  /** In this turn of the event loop; at once if a batch is full, as a turn is long where much arrives in it. */
  function schedule(): void {
    if (waiting.length >= batchMax && idle.length > 0) decide()
    if (isScheduled) return
    isScheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    isScheduled = false
    decide()
    refuseLate()
    if (late.length > 0) schedule()
  }

  function decide(): void {
    setLateAside()
    while (waiting.length > 0 && idle.length > 0) {
      const connection = idle.pop()!
      const batch = waiting.slice(0, batchMax)
      waiting = waiting.slice(batchMax)
      const work = settle(connection, batch).then(() => {
        working.delete(work)
        idle.push(connection)
        schedule()
      })
      working.add(work)
    }
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
    const fault = new AuthenticationFault(`the database had no answer for ${WAIT_MAX_MS} ms`)
    for (const call of late.splice(0, LATE_MAX)) call.reject(fault)
  }

  return {
    useApiKey(keyHash, recall) {
      if (isClosed) return Promise.reject(new AuthenticationFault('the store is closed'))
      return new Promise((resolve, reject) => {
        waiting.push({ keyHash, recall, since: now(), resolve, reject })
        schedule()
      })
    },

    async close() {
      isClosed = true
      do {
        flush()
        await Promise.all(working)
      } while (waiting.length + late.length + working.size > 0)
      for (const connection of connections) connection.close()
    },
  }
}

async function settle(connection: UseConnection, batch: readonly Waiting[]): Promise<void> {
  try {
    const outcomes = await connection.decide(batch)
    for (const [index, call] of batch.entries()) {
      const outcome = outcomes[index]!
      if (outcome instanceof Error) call.reject(outcome)
      else call.resolve(outcome)
    }
  } catch (error) {
    for (const call of batch) call.reject(error as Error)
  }
}
