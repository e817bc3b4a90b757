/** Where a client takes the time from. Tests pass their own. */
export interface Clock {
  /** Milliseconds of a clock that no program can set. */
  now(): number
  /** Calls back after this many milliseconds, unless the returned function is called first. */
  schedule(callback: () => void, ms: number): () => void
}

/** A timer with a longer time fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** The clock of this process. Changes of the wall clock do not move it. */
export const monotonicClock: Clock = {
  now: () => performance.now(),
  schedule(callback, ms) {
    const timer = setTimeout(callback, Math.min(Math.ceil(ms), TIMER_MS_MAX))
    return () => clearTimeout(timer)
  },
}

/** Waits this many milliseconds. Throws the signal's reason as soon as the signal aborts. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      cancel()
      reject(signal!.reason)
    }
    const cancel = clock.schedule(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
