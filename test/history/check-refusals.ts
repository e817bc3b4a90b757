import { shiftsOf } from './clock-steps.ts'
import type { Operation, Stamp } from './record.ts'
import {
  AFTERMATH,
  isUnknown,
  type OneKey,
  overlap,
  SECOND,
  type Violation,
  violation,
} from './violation.ts'

/** I2, I3 and I5: each 429 has a cause. What it is called without one depends on what came before it. */
export function checkRefusals(key: OneKey): Violation[] {
  return key.gets
    .filter(({ status }) => status === 429)
    .filter((refusal) => !hasCause(key, refusal))
    .map((refusal) => accuse(key, refusal))
}

function hasCause(key: OneKey, refusal: Operation): boolean {
  const { gets, revokes, locks, steps, stamps } = key
  // Somebody else was at the key meanwhile, and one of two may be refused; two refusals are nobody's work.
  const others = [...gets.filter(({ status }) => status !== 429), ...revokes, ...locks]
  if (others.some((other) => overlap(other, refusal, isUnknown(other) ? AFTERMATH : 0))) return true
  if (gets.some((other) => overlap(other, refusal) && wasOvertaken(key, other, refusal)))
    return true
  if (stamps !== null) return stamps.some((stamp) => isWithinSecond(stamp, steps, refusal))
  return gets.some((other) => {
    if (other.t0 >= refusal.t1) return false
    const since = refusal.t0 - other.t1
    return isUnknown(other) ? since < SECOND + AFTERMATH : other.status === 200 && since < SECOND
  })
}

/**
 * Two refusals are somebody's work after all where the other was at the key first, failed, was judged anew, and found
 * that a third had used the key meanwhile: a use after this refusal began, and before the other ended.
 */
function wasOvertaken({ gets, stamps }: OneKey, other: Operation, refusal: Operation): boolean {
  if (other.status !== 429) return false
  const [from, to] = [Math.max(other.t0, refusal.t0), other.t1]
  if (stamps !== null)
    return stamps.some(({ kind, low, high }) => kind === 'use' && low < to && high > from)
  return gets.some(({ status, t0, t1 }) => status === 200 && t0 < to && t1 > from)
}

/** By the store's clock, which may have been set back since. A stamp that lies in the future is no cause: see CLAMP. */
function isWithinSecond(stamp: Stamp, steps: readonly Operation[], refusal: Operation): boolean {
  return shiftsOf(stamp, steps, refusal).some(
    (shift) => stamp.low + shift < refusal.t1 && refusal.t0 - (stamp.high + shift) < SECOND,
  )
}

function accuse({ name, gets }: OneKey, refusal: Operation): Violation {
  const before = gets.filter(({ t1 }) => t1 <= refusal.t0)
  const failed = before.findLast(
    ({ status, t1 }) => (status === 502 || status === 401) && refusal.t0 - t1 < SECOND,
  )
  if (failed !== undefined)
    return violation('I3', `a failure spent the second of ${name}`, [failed, refusal])
  const told = before.findLast(({ status, t1 }) => status === 429 && refusal.t0 - t1 >= SECOND)
  if (told !== undefined)
    return violation('I5', `${name} waited for a second as it was told, and was refused`, [
      told,
      refusal,
    ])
  const last = before.findLast(({ status }) => status === 200)
  const since = last === undefined ? 'never used' : `last used ${refusal.t0 - last.t1} µs before`
  return violation(
    'I2',
    `${name} was refused without a cause: ${since}`,
    last === undefined ? [refusal] : [last, refusal],
  )
}
