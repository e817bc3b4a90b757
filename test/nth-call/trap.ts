/*
 * SQLite's own way of testing: of the calls that an operation makes to its database the first is disturbed, then the
 * second, and so on, until the operation comes to its end without having met the disturbance.
 */

/** What happens to a call, or to all from it on. */
export interface Disturbance {
  name: string
  /** Whether the calls after it are disturbed too. */
  lasts?: boolean
  /** Ends what it left behind. */
  heal?(): void
}

export interface Trap<D extends Disturbance> {
  /** Disturbs the nth call from now on; calls of the kinds that are left out are not counted, and let through. */
  set(n: number, disturbance: D, leftOut?: readonly string[]): void
  /** Lets everything through again; whether the disturbance was met. */
  lift(): boolean
  /** To be asked by every call: what is to happen to it, or null. */
  next(kind: string): D | null
}

export function createTrap<D extends Disturbance>(): Trap<D> {
  let left = 0
  let disturbance: D | null = null
  let uncounted: readonly string[] = []
  let isMet = false
  return {
    set(n, one, leftOut = []) {
      left = n
      disturbance = one
      uncounted = leftOut
      isMet = false
    },

    lift() {
      disturbance?.heal?.()
      disturbance = null
      return isMet
    },

    next(kind) {
      if (disturbance === null || uncounted.includes(kind)) return null
      left -= 1
      const isHit = disturbance.lasts ? left <= 0 : left === 0
      isMet ||= isHit
      return isHit ? disturbance : null
    },
  }
}
