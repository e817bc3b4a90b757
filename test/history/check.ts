import { checkAnswers } from './check-answers.ts'
import { checkContent } from './check-content.ts'
import { checkLiveness } from './check-liveness.ts'
import { checkRefusals } from './check-refusals.ts'
import { checkRevocation } from './check-revocation.ts'
import { checkSpacing } from './check-spacing.ts'
import { checkStamps } from './check-stamps.ts'
import { isStep } from './clock-steps.ts'
import type { History, Operation } from './record.ts'
import { type OneKey, tell, type Violation } from './violation.ts'

/**
 * The first contradiction between a record and what the service promises, or null. Whatever could have happened in
 * some order of the instants within the requests is no contradiction, so a right service never raises an alarm.
 *
 * | I1 | two 200s of a key are a second apart |
 * | I2 | each 429 has a cause: a use within the last second, or somebody else at the key |
 * | I3 | a failure is no cause: it has not spent the second |
 * | I4 | a revocation is written once: 401 from its end on, and never before its beginning |
 * | I5 | Retry-After is honest: who waits for a second after a 429 is not refused without a new use |
 * | I6 | the last use moves with a use and with nothing else, and forward only |
 * | I7 | in the store's own record uses are a second apart, each 200 has its own, none is from before a wait for a lock |
 * | I8 | each request of a connection has one answer, in order, and none that the specification does not know |
 * | I9 | two and a half seconds after the last fault each key has had its 200 |
 * | I10 | a 200 shows the owner's list, whole, in a state that it had during the request |
 */
export function check(history: History): Violation | null {
  return checkAll(history)[0] ?? null
}

/** Every contradiction, the first before the last. */
export function checkAll(history: History): Violation[] {
  const keys = byKey(history)
  const found = [
    ...keys.flatMap(checkSpacing),
    ...keys.flatMap(checkRefusals),
    ...keys.flatMap(checkRevocation),
    ...keys.flatMap((key) => checkStamps(key, history.lastUses)),
    ...checkAnswers(history.operations),
    ...keys.flatMap((key) => checkLiveness(key, history.calmFrom)),
    ...checkContent(history.operations),
  ]
  return found.toSorted((a, b) => a.at - b.at)
}

/** A violation with the requests involved. */
export function describe({ invariant, words, operations }: Violation): string {
  return [`${invariant}: ${words}`, ...operations.map(tell)].join('\n  ')
}

/** What a person needs in order to judge a violation: the operations on its key that are near it. */
export function excerpt(
  history: History,
  { operations, at }: Violation,
  before = 2_500_000,
): Operation[] {
  const end = Math.max(at, ...operations.map(({ t1 }) => t1))
  const keys = new Set(operations.map(({ key }) => key))
  const connections = new Set(operations.map(({ connection }) => connection))
  const owners = new Set(operations.map(({ owner }) => owner))
  const concerns = (operation: Operation) => {
    if (isStep(operation)) return true
    if (operation.operation === 'change') return owners.has(operation.owner)
    if (operation.key === '') return connections.has(operation.connection)
    return keys.has(operation.key)
  }
  return history.operations
    .filter((operation) => operation.t1 > at - before && operation.t0 <= end && concerns(operation))
    .toSorted((a, b) => a.t0 - b.t0)
}

function byKey({ operations, stamps }: History): OneKey[] {
  const sorted = operations.toSorted((a, b) => a.t0 - b.t0)
  const ofKey = Map.groupBy(sorted, ({ key }) => key)
  const steps = sorted.filter(isStep)
  const stampsOf = Map.groupBy(stamps ?? [], ({ key }) => key)
  ofKey.delete('')
  return [...ofKey].map(([name, all]) => ({
    name,
    gets: all.filter(({ operation }) => operation === 'get'),
    revokes: all.filter(({ operation }) => operation === 'revoke'),
    locks: all.filter(({ operation }) => operation === 'lock'),
    held: all.filter(({ operation }) => operation === 'held'),
    steps,
    stamps: stamps === null ? null : (stampsOf.get(name) ?? []),
  }))
}
