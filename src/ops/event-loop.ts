import { createHistogram, type Histogram } from '../model/health/histogram.ts'

/** The interval of the timer whose delay is measured. */
const INTERVAL_MS = 50
/** In milliseconds. */
const DELAYS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500]

/** How late a timer is, in milliseconds. It is late while the event loop has other work. */
export interface EventLoopDelay {
  delays: Histogram
  close(): void
}

export function watchEventLoop(): EventLoopDelay {
  const delays = createHistogram(DELAYS)
  let dueAt = performance.now() + INTERVAL_MS
  const timer = setInterval(() => {
    const now = performance.now()
    delays.observe(Math.max(0, now - dueAt))
    dueAt = now + INTERVAL_MS
  }, INTERVAL_MS).unref()
  return { delays, close: () => clearInterval(timer) }
}
