/*
 * The method of SQLite's own tests: fail the first database call of an operation, then the second,
 * and so on, until the operation ends without reaching the failing call.
 */

/** A fault of one call, or of all calls from it on. */
export interface Disturbance {
  name: string
  /** True if later calls fail, too. */
  lasts?: boolean
  /** Removes its effects. */
  heal?(): void
}

export interface Trap<D extends Disturbance> {
  /** Fails the nth call from now on. Calls of the kinds in `leftOut` are not counted and pass. */
  set(n: number, disturbance: D, leftOut?: readonly string[]): void
  /** Lets all calls pass again and returns whether the fault was reached. */
  lift(): boolean
  /** Each call asks here for its fault, with its statement; null to pass. */
  next(kind: string, statement: string): D | null
  /** The statement of the first call that failed. */
  disturbed(): string
  /** The number of calls since `set`. */
  calls(): number
}

export function createTrap<D extends Disturbance>(): Trap<D> {
  let left = 0
  let disturbance: D | null = null
  let uncounted: readonly string[] = []
  let isReached = false
  let first = ''
  let count = 0
  return {
    set(n, one, leftOut = []) {
      left = n
      disturbance = one
      uncounted = leftOut
      isReached = false
      first = ''
      count = 0
    },

    lift() {
      disturbance?.heal?.()
      disturbance = null
      return isReached
    },

    next(kind, statement) {
      if (disturbance === null || uncounted.includes(kind)) return null
      left -= 1
      count += 1
      const isHit = disturbance.lasts ? left <= 0 : left === 0
      if (isHit && !isReached) first = statement
      isReached ||= isHit
      return isHit ? disturbance : null
    },

    disturbed: () => first,
    calls: () => count,
  }
}
