import type { Operation, Stamp } from '../record/record.ts'
import { SECOND } from '../record/violation.ts'

/*
 * What the checker must forgive around a step of a clock, and nothing more.
 *
 * A store whose clock is set back finds its stamps later than they were. Example: a key was used
 * five seconds ago, and then the clock went back by four and a half seconds. By that clock the key
 * was used half a second ago, so the store refuses it for another half. If the stamp now lies in
 * the future, the store refuses the key once and clamps the stamp to the present, which its record
 * shows. Either way a key is refused for at most one second. No step brings two granted claims
 * closer together, so the rule of one second between them has no exception.
 *
 * The record contains each step with its exact size and the time before and after it, so the
 * checker guesses nothing. It compares stamps by the store's clock minus the steps. `last_used_at`
 * may go back by at most the steps between two granted claims.
 */

export function isStep({ operation }: Operation): boolean {
  return operation === 'step' || operation === 'shown step'
}

/** Returns by how many microseconds a clock was set. */
export function sizeOf({ body }: Operation): number {
  return Number(body) * SECOND
}

/**
 * Returns by how much later a stamp may have looked to the store when it judged the request. There
 * are several answers if the clock was set during the request or at the instant of the stamp.
 */
export function shiftsOf(
  { low, high }: Stamp,
  steps: readonly Operation[],
  { t0, t1 }: Operation,
): number[] {
  const since = steps.filter((step) => step.operation === 'step' && step.t1 > low && step.t0 < t1)
  const perhapsBefore = since.filter((step) => step.t0 < high).length
  const surelyMade = since.filter((step) => step.t1 <= t0).length
  const shifts: number[] = []
  for (let from = 0; from <= perhapsBefore; from += 1)
    for (let to = Math.max(from, surelyMade); to <= since.length; to += 1)
      shifts.push(-sum(since.slice(from, to)))
  return shifts
}

/**
 * Returns how far `last_used_at` may go back from one stamp to the next: the sum of the steps back
 * between them.
 */
export function setBackBetween(first: Stamp, second: Stamp, steps: readonly Operation[]): number {
  const between = steps.filter(({ t0, t1 }) => t1 > first.low && t0 < second.high)
  return -sum(between.filter((step) => sizeOf(step) < 0))
}

/**
 * Returns for how much longer than one second a key may be refused after this instant, because of a
 * step that is not made up for yet.
 */
export function refusedLonger(steps: readonly Operation[], from: number): number {
  const isMadeUp = (step: Operation) => step.t1 - sizeOf(step) + SECOND <= from
  return steps.some((step) => step.operation === 'step' && !isMadeUp(step)) ? SECOND : 0
}

function sum(steps: readonly Operation[]): number {
  return steps.reduce((total, step) => total + sizeOf(step), 0)
}
