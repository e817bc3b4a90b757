import { setTimeout as delay } from 'node:timers/promises'

/** Requests that a foreign host gets within one second, at most. */
export const REQUESTS_PER_SECOND = 2

/** Longer than a second, because a network can deliver two requests closer than they were sent. */
export const WINDOW_MS = 1_100

export interface Clock {
  /** Milliseconds of a clock that no program can set. */
  now(): number
  sleep(ms: number): Promise<unknown>
}

export const systemClock: Clock = { now: () => performance.now(), sleep: (ms) => delay(ms) }

/** Holds requests back. */
export interface Pace {
  /** Resolves when this many requests may be sent at once. */
  take(count: number): Promise<void>
}

/** At most two requests in any second, for the host of another operator. */
export function politePace(clock: Clock = systemClock): Pace {
  const sent: number[] = []
  return {
    async take(count) {
      if (count > REQUESTS_PER_SECOND)
        throw new RangeError(`${count} requests at once are more than a second allows`)
      for (;;) {
        const recent = sent.at(-(REQUESTS_PER_SECOND - count + 1))
        const wait = recent === undefined ? 0 : recent + WINDOW_MS - clock.now()
        if (wait <= 0) break
        await clock.sleep(wait)
      }
      for (let index = 0; index < count; index += 1) sent.push(clock.now())
      sent.splice(0, sent.length - REQUESTS_PER_SECOND)
    },
  }
}

/** No limit, for a host of one's own. */
export const ownPace: Pace = { take: async () => {} }
