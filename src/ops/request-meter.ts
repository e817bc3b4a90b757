import type { HttpEvent } from '../http/message.ts'
import { createHistogram, type Histogram } from '../model/health/histogram.ts'

/** In milliseconds. */
const DURATIONS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500]
/** All statuses of HTTP are below. */
const STATUSES = 600

/** Counts the answers of the public API. It stands on the way of every request. */
export interface RequestMeter {
  observe(event: HttpEvent): void
  /** The counts above zero. */
  answers(): { route: string; status: number; count: number }[]
  /** From the head of a request to its answer, in milliseconds, by route. */
  durations: ReadonlyMap<string, Histogram>
}

/** `routes` are all names of routes. Bytes that are no request count for the last one. */
export function createRequestMeter(routes: readonly string[]): RequestMeter {
  const counts = new Float64Array(routes.length * STATUSES)
  const histograms = routes.map(() => createHistogram(DURATIONS))
  const last = routes.length - 1

  function indexOf(route: string): number {
    let index = 0
    while (index < last && routes[index] !== route) index += 1
    return index
  }

  return {
    observe(event) {
      if (event.kind === 'refused') {
        counts[last * STATUSES + event.status]! += 1
        return
      }
      const index = indexOf(event.route)
      counts[index * STATUSES + event.status]! += 1
      histograms[index]!.observe(event.milliseconds)
    },

    answers() {
      return routes.flatMap((route, index) =>
        Array.from(counts.subarray(index * STATUSES, (index + 1) * STATUSES))
          .map((count, status) => ({ route, status, count }))
          .filter(({ count }) => count > 0),
      )
    },

    durations: new Map(routes.map((route, index) => [route, histograms[index]!])),
  }
}
