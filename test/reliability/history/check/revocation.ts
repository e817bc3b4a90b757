import { isAfter } from '../../../../conform/src/interval.ts'
import { type OneKey, type Violation, violation } from '../record/violation.ts'

/** I4: a revocation is a register that is written once. */
export function checkRevocation({ name, gets, revokes }: OneKey): Violation[] {
  const found: Violation[] = []
  const begun = Math.min(...revokes.map(({ t0 }) => t0))
  const done = revokes.filter(({ status }) => status === 200).toSorted((a, b) => a.t1 - b.t1)[0]
  const refused = gets.filter(({ status }) => status === 401).toSorted((a, b) => a.t1 - b.t1)[0]
  for (const get of gets) {
    const isHeld = get.status === 200 || get.status === 429
    if (get.status === 401 && get.t1 < begun)
      found.push(violation('I4', `${name} was unknown although it was never revoked`, [get]))
    if (isHeld && done !== undefined && isAfter(get, done))
      found.push(violation('I4', `${name} was known after it was revoked`, [done, get]))
    else if (isHeld && refused !== undefined && isAfter(get, refused))
      found.push(violation('I4', `${name} was known again after it was unknown`, [refused, get]))
  }
  return found
}
