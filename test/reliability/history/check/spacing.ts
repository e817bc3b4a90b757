import { findTooClose } from '../../../../conform/src/interval.ts'
import { type OneKey, type Violation, violation } from '../record/violation.ts'

/** I1: two 200s contain two instants that are at least one second apart. */
export function checkSpacing({ name, gets }: OneKey): Violation[] {
  return findTooClose(gets.filter(({ status }) => status === 200)).map(({ first, second, most }) =>
    violation('I1', `two granted claims of ${name} at most ${most} µs apart`, [first, second]),
  )
}
