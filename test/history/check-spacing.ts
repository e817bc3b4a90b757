import { type OneKey, SECOND, type Violation, violation } from './violation.ts'

/** I1: of two 200s there must be instants within the requests that are a second apart. */
export function checkSpacing({ name, gets }: OneKey): Violation[] {
  const found: Violation[] = []
  const uses = gets.filter(({ status }) => status === 200)
  for (const [index, first] of uses.entries())
    for (const second of uses.slice(index + 1)) {
      if (second.t0 - first.t0 >= SECOND) break
      const most = Math.max(first.t1, second.t1) - first.t0
      if (most < SECOND)
        found.push(violation('I1', `two uses of ${name} at most ${most} µs apart`, [first, second]))
    }
  return found
}
