import { checkAnswers } from './answers.ts'
import { checkContent } from './content.ts'
import { checkFailures } from './failures.ts'
import { checkGaps } from './gaps.ts'
import { checkLiveness } from './liveness.ts'
import { checkRefusals } from './refusals.ts'
import { checkRevocation } from './revocation.ts'
import { checkSpacing } from './spacing.ts'
import { checkStamps } from './stamps.ts'
import { isStep } from './clock-steps.ts'
import type { History, Incident, Operation } from '../record/record.ts'
import { type OneKey, tell, type Violation } from '../record/violation.ts'

/**
 * Returns the first contradiction between a record and the promises of the service, or null. Each
 * request took effect at some instant between its beginning and its end. Only a record that no
 * choice of these instants allows is a contradiction, so a correct service never raises an alarm.
 * README.md lists the invariants I1 to I12.
 */
export function check(history: History): Violation | null {
  return checkAll(history)[0] ?? null
}

/** Returns every contradiction, the earliest first. */
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
    ...checkFailures(history),
    ...keys.flatMap(checkGaps),
  ]
  return found.toSorted((a, b) => a.at - b.at)
}

/** Describes a violation and the requests that show it. */
export function describe({ invariant, words, operations }: Violation): string {
  return [`${invariant}: ${words}`, ...operations.map(tell)].join('\n  ')
}

/** Returns the operations near a violation that a person needs to judge it. */
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

/** Returns the faults near a violation. */
export function incidentsNear(
  { incidents }: History,
  { at }: Violation,
  before = 2_500_000,
): Incident[] {
  return (incidents ?? []).filter(
    ({ t0, t1, aftermath }) => t0 <= at && t1 + aftermath > at - before,
  )
}

/** Groups the record by key. */
export function byKey({ operations, stamps, incidents }: History): OneKey[] {
  const sorted = operations.toSorted((a, b) => a.t0 - b.t0)
  const ofKey = Map.groupBy(sorted, ({ key }) => key)
  const steps = sorted.filter(isStep)
  const stampsOf = Map.groupBy(stamps ?? [], ({ key }) => key)
  ofKey.delete('')
  return [...ofKey].map(([name, all]) => ({
    name,
    gets: all.filter(({ operation }) => operation === 'get'),
    revokes: all.filter(({ operation }) => operation === 'revoke'),
    held: all.filter(({ operation }) => operation === 'held'),
    steps,
    stamps: stamps === null ? null : (stampsOf.get(name) ?? []),
    incidents,
  }))
}
