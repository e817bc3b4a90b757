import { type OneKey, SECOND, type Violation, violation } from '../record/violation.ts'

/** I1: two 200s contain two instants that are at least one second apart. */
export function checkSpacing({ name, gets }: OneKey): Violation[] {
  const found: Violation[] = []
  const granted = gets.filter(({ status }) => status === 200)
  for (const [index, first] of granted.entries())
    for (const second of granted.slice(index + 1)) {
      if (second.t0 - first.t0 >= SECOND) break
      const most = Math.max(first.t1, second.t1) - first.t0
      if (most < SECOND)
        found.push(
          violation('I1', `two granted claims of ${name} at most ${most} µs apart`, [
            first,
            second,
          ]),
        )
    }
  return found
}
