import type { Operation } from '../record/record.ts'
import { type Violation, violation } from '../record/violation.ts'

/** Statuses that a request may get. 0 is a lost connection. */
const STATUSES: Partial<Record<Operation['operation'], readonly number[]>> = {
  get: [0, 200, 401, 429, 502],
  health: [0, 200],
}

/** I8: each connection returns one answer per request, in order and of the right kind. */
export function checkAnswers(operations: readonly Operation[]): Violation[] {
  const found: Violation[] = []
  for (const operation of operations) {
    if (operation.operation === 'unasked')
      found.push(violation('I8', 'an answer without a request', [operation]))
    const allowed = STATUSES[operation.operation]
    if (allowed !== undefined && !allowed.includes(operation.status))
      found.push(violation('I8', 'an answer of another kind than was asked for', [operation]))
    else if (operation.flaw !== undefined) found.push(violation('I8', operation.flaw, [operation]))
  }
  const onConnections = operations.filter(({ connection }) => connection !== 0)
  for (const all of Map.groupBy(onConnections, ({ connection }) => connection).values()) {
    const inOrder = all.toSorted((a, b) => a.place - b.place)
    for (const [index, second] of inOrder.entries()) {
      const first = inOrder[index - 1]
      if (first === undefined || second.status === 0) continue
      if (first.status === 0)
        found.push(violation('I8', 'a request was passed over', [first, second]))
      else if (second.t1 < first.t1)
        found.push(violation('I8', 'a request was answered before an earlier one', [first, second]))
    }
  }
  return found
}
