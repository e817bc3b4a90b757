import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../client/src/index.ts'

/** The time limit of a request under fake time. Its timer tells that a request is under way. */
export const TIMEOUT_MS = 9_999

/** A clock that only `run` moves, with the timers of all clients in it. */
export interface FakeTime {
  /** Milliseconds since the start. */
  readonly now: number
  /** How many timers are pending. */
  readonly timers: number
  /** The clock of one process. Clients with different clocks share no queue. */
  clock(): Clock
  /**
   * Lets this many milliseconds pass, from timer to timer. Between two steps it waits until each of
   * the `loops` clients has one timer and no request under way.
   */
  run(ms: number, loops: number): Promise<void>
  /**
   * Lets time pass from timer to timer until the promise settles. It stands still while a request
   * is under way, and while `isHeld` returns true.
   */
  until<T>(promise: Promise<T>, isHeld?: () => boolean): Promise<T>
}

interface Timer {
  at: number
  ms: number
  callback: () => void
}

/** `elapse` moves the clock of the service together with this one. */
export function fakeTime(elapse: (ms: number) => void): FakeTime {
  let now = 0
  const timers = new Set<Timer>()

  const isAsking = () => [...timers].some(({ ms }) => ms === TIMEOUT_MS)
  const earliest = () => [...timers].toSorted((a, b) => a.at - b.at)[0]
  const moveTo = (at: number) => {
    elapse(at - now)
    now = at
  }
  const fire = (timer: Timer) => {
    moveTo(timer.at)
    timers.delete(timer)
    timer.callback()
  }

  const settled = async (loops: number) => {
    const until = performance.now() + 60_000
    while (timers.size !== loops || isAsking()) {
      assert.ok(performance.now() < until, `expected ${loops} waiting clients, got ${timers.size}`)
      await turn()
    }
  }

  return {
    get now() {
      return now
    },
    get timers() {
      return timers.size
    },
    clock: () => {
      // As in two processes, which start at different times.
      const origin = Math.floor(Math.random() * 1e6)
      return {
        now: () => origin + now,
        schedule(callback, ms) {
          const timer = { at: now + ms, ms, callback }
          timers.add(timer)
          return () => void timers.delete(timer)
        },
      }
    },
    async run(ms, loops) {
      const end = now + ms
      for (;;) {
        await settled(loops)
        const next = earliest()
        if (next === undefined || next.at > end) return moveTo(end)
        fire(next)
      }
    },
    async until(promise, isHeld = () => false) {
      let isSettled = false
      const settle = () => {
        isSettled = true
      }
      promise.then(settle, settle)
      for (;;) {
        await turn()
        if (isSettled) return promise
        const next = earliest()
        if (next !== undefined && !isAsking() && !isHeld()) fire(next)
      }
    },
  }
}
