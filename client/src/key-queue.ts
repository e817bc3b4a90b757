import type { Clock } from './clock.ts'
import { RateLimitedError, ServerListingError, UnauthorizedError } from './errors.ts'
import type { Server } from './server.ts'

/*
 * The requests of one process with one key to one API: at most one at a time, and a pause after
 * each. Calls that wait together share the answer of one request.
 *
 * Each call sends its own requests and sets its own timers. It does not depend on another call that
 * goes on, because some runtimes end what a call has begun when its caller is done.
 */

/** More than the second of spec 8.1, because clocks differ by a little. */
const PAUSE_MS = 1_050
/** Up to this much longer at random, so that another process with this key finds its moment. */
const SPREAD_MS = 1_000
/** How long the pauses are twice as long after a 429, which shows that there is another process. */
const CROWDED_MS = 60_000
/** Before the random part. */
const BACK_OFF_MS_MAX = 30_000
/** How much longer than its time limit a request may take to end. */
const GRACE_MS = 1_000

export interface KeyQueue {
  /** When the next request may begin. */
  notBefore: number
  /** Transient failures since the last success. */
  failures: number
  crowdedUntil: number
  /** How many requests have begun. */
  begun: number
  /** The request under way, which counts as lost after `until`. */
  running: { until: number } | null
  waiting: Set<(outcome: Outcome | null) => void>
  /** The last answer, for calls that accept one. */
  latest: Answer | null
}

/** A listing, and when its request began. The service read it at that moment or later. */
export interface Answer {
  begunAt: number
  servers: readonly Server[]
}

/** What a call needs of its client. */
export interface Call {
  clock: Clock
  random: () => number
  timeoutMs: number
  maxTries: number
  signal: AbortSignal | undefined
  /** How old an answer may be when the call returns it. 0 for one that was read after the call. */
  maxAgeMs: number
  /** Called after each failure after which the call tries again. */
  onFailure: ((error: ServerListingError) => void) | undefined
  /** Sends one request. Throws a ServerListingError, or the signal's reason. */
  send: () => Promise<readonly Server[]>
}

interface Outcome {
  /** The number of its request, from 1. */
  request: number
  result: Answer | ServerListingError
}

const queuesOf = new WeakMap<Clock, { queues: Map<string, KeyQueue>; sweepAt: number }>()

/** The queue of a key. The times in it are those of one clock. */
export function queueFor(clock: Clock, url: string, key: string): KeyQueue {
  const kept = queuesOf.get(clock) ?? { queues: new Map<string, KeyQueue>(), sweepAt: 64 }
  queuesOf.set(clock, kept)
  const name = `${url} ${key}`
  const found = kept.queues.get(name)
  if (found !== undefined) return found
  if (kept.queues.size >= kept.sweepAt) {
    for (const [each, queue] of kept.queues) if (isIdle(queue, clock)) kept.queues.delete(each)
    kept.sweepAt = Math.max(64, kept.queues.size * 2)
  }
  const queue: KeyQueue = {
    notBefore: -Infinity,
    failures: 0,
    crowdedUntil: -Infinity,
    begun: 0,
    running: null,
    waiting: new Set(),
    latest: null,
  }
  kept.queues.set(name, queue)
  return queue
}

function isIdle({ running, waiting, notBefore }: KeyQueue, clock: Clock): boolean {
  return running === null && waiting.size === 0 && notBefore <= clock.now()
}

/** An answer that is young enough for the call. Tries again after transient failures. */
export async function listThrough(queue: KeyQueue, call: Call): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const result = await nextResult(queue, call)
    if (!(result instanceof ServerListingError)) return result
    if (!result.isTransient || tries >= call.maxTries) throw result
    call.onFailure?.(result)
  }
}

async function nextResult(queue: KeyQueue, call: Call): Promise<Outcome['result']> {
  const begunBefore = queue.begun
  for (;;) {
    call.signal?.throwIfAborted()
    const { latest } = queue
    if (latest !== null && call.clock.now() - latest.begunAt < call.maxAgeMs) return latest
    const waitMs = (queue.running?.until ?? queue.notBefore) - call.clock.now()
    if (!(waitMs > 0)) return request(queue, call)
    const outcome = await wait(queue, call, waitMs)
    // An earlier request may have read the listing before this call.
    if (outcome !== null && outcome.request > begunBefore) return outcome.result
  }
}

/** Waits until a request ends, and returns its outcome, or null after the given time. */
function wait(queue: KeyQueue, { clock, signal }: Call, ms: number): Promise<Outcome | null> {
  return new Promise((resolve, reject) => {
    const end = () => {
      cancelTimer()
      queue.waiting.delete(wake)
      signal?.removeEventListener('abort', onAbort)
    }
    const wake = (outcome: Outcome | null) => {
      end()
      resolve(outcome)
    }
    const onAbort = () => {
      end()
      reject(signal!.reason)
    }
    const cancelTimer = clock.schedule(() => wake(null), ms)
    queue.waiting.add(wake)
    signal?.addEventListener('abort', onAbort)
  })
}

async function request(queue: KeyQueue, call: Call): Promise<Outcome['result']> {
  const begunAt = call.clock.now()
  const running = { until: begunAt + call.timeoutMs + GRACE_MS }
  queue.running = running
  queue.begun += 1
  const number = queue.begun
  let outcome: Outcome | null = null
  try {
    const answer = { begunAt, servers: await call.send() }
    // A request that counted as lost may end after a later one.
    if (!(queue.latest !== null && queue.latest.begunAt > begunAt)) queue.latest = answer
    outcome = { request: number, result: answer }
    return answer
  } catch (error) {
    if (!(error instanceof ServerListingError)) throw error
    if (error instanceof UnauthorizedError) queue.latest = null
    outcome = { request: number, result: error }
    return error
  } finally {
    if (queue.running === running) queue.running = null
    const pauseMs = pauseAfter(queue, outcome, call)
    queue.notBefore = Math.max(queue.notBefore, call.clock.now() + pauseMs)
    for (const wake of queue.waiting) wake(outcome)
  }
}

/** How long the queue rests after an outcome. Null stands for a request that its caller aborted. */
function pauseAfter(queue: KeyQueue, outcome: Outcome | null, call: Call): number {
  const now = call.clock.now()
  const error = outcome?.result instanceof ServerListingError ? outcome.result : null
  if (error instanceof RateLimitedError) queue.crowdedUntil = now + CROWDED_MS
  if (error?.isTransient) {
    const backOffMs = Math.min(PAUSE_MS * 2 ** queue.failures, BACK_OFF_MS_MAX)
    queue.failures += 1
    // Also at the limit: after equal waits, two processes would meet in the same second again.
    return Math.max(error.retryAfterMs, backOffMs * (1 + call.random() / 4))
  }
  if (outcome !== null && error === null) queue.failures = 0
  return (PAUSE_MS + call.random() * SPREAD_MS) * (now < queue.crowdedUntil ? 2 : 1)
}
