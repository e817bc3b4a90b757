import type { Operation, Stamp } from './record.ts'
import { SECOND } from './violation.ts'

/*
 * What a record has to be forgiven around a step of a clock, and no more than that.
 *
 * A store that stamps by a clock that somebody sets back finds its stamps later than they were: a key that was used five
 * seconds ago, before the clock was set back by four and a half, was used half a second ago by that clock, and is
 * refused for another half. One whose stamp lies in the future by now is refused once, and the stamp is clamped to the
 * present, which the store's record shows: so either way it is refused for a second at the most. None of this brings
 * two uses nearer to each other, so of the second between them nothing is forgiven.
 *
 * Each step is in the record, from before it was made to after it was, with its exact size, so that nothing has to be
 * guessed: stamps are compared by the store's clock less the steps, and `last_used_at` goes back by the steps between
 * two uses at the most.
 */

export function isStep({ operation }: Operation): boolean {
  return operation === 'step' || operation === 'shown step'
}

/** By how many microseconds a clock was set. */
export function sizeOf({ body }: Operation): number {
  return Number(body) * SECOND
}

/**
 * By how much later than it was made a stamp may have seemed to be to whoever judged a request: more than one answer
 * where a step was made during the request, or in the moment of the stamp.
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

/** How far `last_used_at` may have gone back from one stamp to the next: what the clocks were set back by meanwhile. */
export function setBackBetween(first: Stamp, second: Stamp, steps: readonly Operation[]): number {
  const between = steps.filter(({ t0, t1 }) => t1 > first.low && t0 < second.high)
  return -sum(between.filter((step) => sizeOf(step) < 0))
}

/** What a key may be refused for after a moment, over and above the rule, since a step is not yet made up for. */
export function refusedLonger(steps: readonly Operation[], from: number): number {
  const isMadeUp = (step: Operation) => step.t1 - sizeOf(step) + SECOND <= from
  return steps.some((step) => step.operation === 'step' && !isMadeUp(step)) ? SECOND : 0
}

function sum(steps: readonly Operation[]): number {
  return steps.reduce((total, step) => total + sizeOf(step), 0)
}
