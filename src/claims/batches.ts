import { AuthenticationFault } from '../model/faults.ts'
import type { Backlog } from './backlog.ts'
import type { BusyKeys } from './busy-keys.ts'
import type { Waiting } from './call.ts'
import { type Decider, decide } from './decide.ts'
import type { ExpiredCallers } from './expired-callers.ts'
import { createGathering } from './gathering.ts'
import type { ClaimMeter } from './meter.ts'

/** Where keys are before and after a batch. */
interface Lists {
  backlog: Backlog
  busy: BusyKeys
  expired: ExpiredCallers
}

/** When batches begin, and which decider gets them. */
export interface Batches {
  /** Starts batches at the end of this turn; a full one at once, since a busy turn is long. */
  schedule(): void
  /** Decides the backlog without waiting for any lock. */
  close(): Promise<void>
}

export function createBatches(
  deciders: readonly Decider[],
  { backlog, busy, expired }: Lists,
  meter: ClaimMeter,
  now: () => number,
): Batches {
  const idle = [...deciders]
  const working = new Set<Promise<void>>()
  const pause = createPause(now, flush)
  const gathering = createGathering(backlog, requestTurn)
  const destinations = { park: busy.park, endEpisode: expired.endEpisode }
  let isScheduled = false

  function schedule(): void {
    if (backlog.isFull() && idle.length > 0 && pause.isOver()) start()
    requestTurn()
  }

  function requestTurn(): void {
    if (isScheduled || pause.isPending() || backlog.count() + expired.count() === 0) return
    isScheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    isScheduled = false
    start()
    expired.reject()
    if ((idle.length > 0 && gathering.isOver()) || expired.count() > 0) requestTurn()
  }

  function start(): void {
    backlog.expire()
    // At most one batch each: a synchronous decider must not hold the event loop for longer.
    for (let free = idle.length; free > 0 && gathering.isOver(); free -= 1) {
      const decider = idle.pop()!
      const batch = backlog.next()
      const waited = now() - batch[0]!.callers[0]!.since
      const decided = decide(decider, batch, destinations)
      if (decided !== false) meter.countBatch(batch.length, waited)
      else if (gathering.isClosed()) rejectClosed(batch)
      else {
        backlog.putBack()
        pause.begin()
      }
      gathering.begin(decided instanceof Promise ? batch.length : 0)
      if (decided instanceof Promise) {
        const work = decided.then(() => {
          working.delete(work)
          gathering.finish(batch.length)
          idle.push(decider)
          schedule()
        })
        working.add(work)
      } else idle.push(decider)
    }
  }

  return {
    schedule,

    async close() {
      gathering.close()
      do {
        flush()
        await Promise.all(working)
      } while (backlog.count() + expired.count() + working.size > 0)
    },
  }
}

function rejectClosed(batch: readonly Waiting[]): void {
  const fault = closedFault()
  for (const { callers } of batch) for (const { reject } of callers) reject(fault)
}

/** The fault of calls that come too late. */
export function closedFault(): AuthenticationFault {
  return new AuthenticationFault('the store is closed')
}
/** How long the queue leaves a locked database alone. */
const PAUSE_MS = 5

/** The pause after an engine found the whole database locked. */
interface Pause {
  begin(): void
  /** True until `resume` was called. */
  isPending(): boolean
  /** True once the time has passed, even if a busy event loop has not called `resume` yet. */
  isOver(): boolean
}

function createPause(now: () => number, resume: () => void): Pause {
  let timer: NodeJS.Timeout | null = null
  let until = 0
  return {
    begin() {
      until = now() + PAUSE_MS
      timer ??= setTimeout(() => {
        timer = null
        resume()
      }, PAUSE_MS)
    },

    isPending: () => timer !== null,
    isOver: () => now() >= until,
  }
}
