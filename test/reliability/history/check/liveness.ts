import { refusedLonger } from './clock-steps.ts'
import { type OneKey, type Violation, violation } from '../record/violation.ts'

/**
 * Time from the last fault to the first 200 of each key. One second of it may be the limit, or the
 * wait after a crash.
 */
export const RETURN_MAX = 2_500_000

/** I9: once all faults are over, each key that clients use gets a 200. */
export function checkLiveness(
  { name, gets, revokes, steps }: OneKey,
  calmFrom: number | null,
): Violation[] {
  if (calmFrom === null) return []
  const asked = gets.filter(({ t1 }) => t1 >= calmFrom)
  const [first, last] = [asked[0], asked.at(-1)]
  if (first === undefined || last === undefined) return []
  const until = Math.max(calmFrom, first.t0) + RETURN_MAX + refusedLonger(steps, calmFrom)
  const isAskedThroughout = last.t1 >= until
  const isRevoked = revokes.some(({ t0 }) => t0 < until)
  if (!isAskedThroughout || isRevoked) return []
  if (asked.some(({ status, t1 }) => status === 200 && t1 <= until)) return []
  return [
    violation(
      'I9',
      `no granted claim of ${name} since the last fault was over`,
      [first, last],
      until,
    ),
  ]
}
