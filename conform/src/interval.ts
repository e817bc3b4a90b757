/*
 * What a client can conclude about the limit and about revocations (spec 5.3, 8). It knows only
 * when a request began and ended. So it assumes the instants in between that suit the service best,
 * and a contradiction is one for every choice of them.
 */

/** The limit: two granted requests of a key are at least this many microseconds apart. */
export const SECOND = 1_000_000

/** A request of a client, in microseconds of one clock. */
export interface Interval {
  t0: number
  t1: number
}

/** Two granted requests, and the most microseconds that can lie between their instants. */
export interface TooClose<T extends Interval> {
  first: T
  second: T
  most: number
}

/** The pairs of granted requests that no choice of instants puts one second apart. */
export function findTooClose<T extends Interval>(granted: readonly T[]): TooClose<T>[] {
  const found: TooClose<T>[] = []
  for (const [index, first] of granted.entries())
    for (const second of granted.slice(index + 1)) {
      if (second.t0 - first.t0 >= SECOND) break
      const most = mostApart(first, second)
      if (most < SECOND) found.push({ first, second, most })
    }
  return found
}

/** The most microseconds between two requests of which `first` began first. */
export function mostApart(first: Interval, second: Interval): number {
  return Math.max(first.t1, second.t1) - first.t0
}

/** True if a request granted in one interval can be the reason to refuse the other one. */
export function canCause(granted: Interval, refusal: Interval): boolean {
  return granted.t0 < refusal.t1 && refusal.t0 - granted.t1 < SECOND
}

/** True if a request began after an act had ended, so that it must see the act. */
export function isAfter(request: Interval, act: Interval): boolean {
  return request.t0 > act.t1
}
