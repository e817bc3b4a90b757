import { canCause, findTooClose } from '../interval.ts'
import { type Key, type Kit, mayBeGranted } from '../kit.ts'
import { milliseconds } from './limit.ts'

/*
 * The limit over the whole run: whatever a request of a check was for, it must not contradict the
 * others (spec 8, rules 1 and 2).
 */

export function judgeWholeRun(kit: Kit): void {
  for (const key of [kit.key, kit.second]) {
    if (key === null) continue
    const inOrder = { ...key, claims: key.claims.toSorted((a, b) => a.t0 - b.t0) }
    judgeSpacing(kit, inOrder)
    judgeCauses(kit, inOrder)
  }
}

function judgeSpacing({ judge }: Kit, { claims }: Key): void {
  const granted = claims.filter(({ answer }) => answer?.status === 200)
  const [worst] = findTooClose(granted).toSorted((a, b) => a.most - b.most)
  if (granted.length === 0) return
  judge.expect('spacing', worst === undefined, {
    exchange: worst === undefined ? granted : [worst.first, worst.second],
    expected: 'two 200s at least 1 s apart',
    ...(worst === undefined ? {} : { seen: `two 200s at most ${milliseconds(worst.most)} apart` }),
  })
}

function judgeCauses({ judge }: Kit, { claims }: Key): void {
  const causes = claims.filter(mayBeGranted)
  for (const refusal of claims.filter(({ answer }) => answer?.status === 429)) {
    const last = causes.findLast(({ t1 }) => t1 <= refusal.t0)
    const since = last && `the last 200 was ${milliseconds(refusal.t0 - last.t1)} before it`
    judge.expect(
      'limited-cause',
      causes.some((cause) => canCause(cause, refusal)),
      {
        exchange: refusal,
        expected: 'a 200 of the key within one second before it',
        seen: `429, ${since ?? 'no 200 before it'}`,
      },
    )
  }
}
