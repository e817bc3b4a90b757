import type { Operation } from '../record/record.ts'
import { type Violation, violation } from '../record/violation.ts'

/** I10: a 200 shows a state that the owner's list had at some instant of the request. */
export function checkContent(operations: readonly Operation[]): Violation[] {
  const found: Violation[] = []
  const changes = operations.filter(({ operation }) => operation === 'change')
  const byOwner = Map.groupBy(changes, ({ owner }) => owner)
  for (const use of operations) {
    if (use.operation !== 'get' || use.status !== 200) continue
    const own = byOwner.get(use.owner) ?? []
    const shown = own.find(({ body }) => body === use.body)
    if (shown === undefined) {
      found.push(violation('I10', `a list that ${use.owner} never had`, [use]))
      continue
    }
    if (shown.t0 > use.t1)
      found.push(violation('I10', 'a list from before it was written', [use, shown]))
    // A change without an answer may take effect at any later time.
    if (shown.status === 0) continue
    const replaced = own.find(
      ({ status, t0, t1 }) => status === 200 && t0 >= shown.t1 && t1 < use.t0,
    )
    if (replaced !== undefined)
      found.push(violation('I10', 'a list that had been replaced', [replaced, use]))
  }
  return found
}
