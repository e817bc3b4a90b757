import { canCause } from '../../../../conform/src/interval.ts'
import { shiftsOf } from './clock-steps.ts'
import { isUnknown, lastEffectOf } from '../record/incidents.ts'
import type { Operation, Stamp } from '../record/record.ts'
import { type OneKey, overlap, SECOND, type Violation, violation } from '../record/violation.ts'

/**
 * I2, I3 and I5: each 429 has a cause. Without one, what came before decides which of the three is
 * broken.
 */
export function checkRefusals(key: OneKey): Violation[] {
  return key.gets
    .filter(({ status }) => status === 429)
    .filter((refusal) => !hasCause(key, refusal))
    .map((refusal) => accuse(key, refusal))
}

/**
 * Only a granted claim is a cause. If the store kept a record, the record decides whether there was
 * one.
 */
function hasCause(key: OneKey, refusal: Operation): boolean {
  const { steps, stamps } = key
  if (stamps === null) return mayHaveCause(key, refusal)
  return stamps.some((stamp) => isWithinSecond(stamp, steps, refusal))
}

/**
 * True if the checker would have believed a 429 in place of this 200. The request's own claim
 * is no cause. Another claim may be close enough if the request came early or waited long.
 */
export function wouldBeBelieved({ stamps, steps }: OneKey, granted: Operation): boolean {
  if (stamps === null) return true
  const own = stamps.find(({ low, high }) => low < granted.t1 && high > granted.t0)
  return stamps.some((stamp) => stamp !== own && isWithinSecond(stamp, steps, granted))
}

/**
 * For clients alone: another request that may have been granted within one second before the end of
 * the refusal.
 */
function mayHaveCause(key: OneKey, refusal: Operation): boolean {
  const { gets, revokes, incidents } = key
  const others = [...gets.filter(({ status }) => status !== 429), ...revokes]
  if (others.some((other) => overlap(other, refusal))) return true
  if (gets.some((other) => overlap(other, refusal) && wasOvertaken(key, other, refusal)))
    return true
  return gets.some((other) => {
    if (other.t0 >= refusal.t1) return false
    if (isUnknown(other)) return refusal.t0 - lastEffectOf(other, incidents) < SECOND
    return other.status === 200 && canCause(other, refusal)
  })
}

/**
 * Two overlapping refusals can both be right. The other one may have held the key first, failed,
 * and been judged again after a third request had used the key. That request began after this
 * refusal did and before the other one ended.
 */
function wasOvertaken({ gets }: OneKey, other: Operation, refusal: Operation): boolean {
  if (other.status !== 429) return false
  const [from, to] = [Math.max(other.t0, refusal.t0), other.t1]
  return gets.some(({ status, t0, t1 }) => status === 200 && t0 < to && t1 > from)
}

/**
 * Compares by the store's clock, which may have been set back since. A stamp in the future is no
 * cause, because the store clamps it.
 */
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
