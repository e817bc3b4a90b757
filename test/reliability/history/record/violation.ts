import { SECOND } from '../../../../conform/src/interval.ts'
import type { Incident, Operation, Stamp } from './record.ts'

export { SECOND }

export type Invariant =
  | 'I1'
  | 'I2'
  | 'I3'
  | 'I4'
  | 'I5'
  | 'I6'
  | 'I7'
  | 'I8'
  | 'I9'
  | 'I10'
  | 'I11'
  | 'I12'

export interface Violation {
  invariant: Invariant
  words: string
  /** The requests that contradict each other, or the one that contradicts the rule. */
  operations: readonly Operation[]
  /** Instant from which on the record cannot be right. */
  at: number
}

/** Everything recorded of one key, each list in the order of beginnings. */
export interface OneKey {
  name: string
  gets: readonly Operation[]
  revokes: readonly Operation[]
  held: readonly Operation[]
  /** Steps of the clocks, which concern every key. */
  steps: readonly Operation[]
  /** In the order of recording. */
  stamps: readonly Stamp[] | null
  /** Faults of all keys; null if faults were not recorded. */
  incidents: readonly Incident[] | null
}

export function violation(
  invariant: Invariant,
  words: string,
  operations: readonly Operation[],
  at = Math.max(...operations.map(({ t1 }) => t1)),
): Violation {
  return { invariant, words, operations, at }
}

export function overlap(a: Operation, b: Operation): boolean {
  return a !== b && a.t0 < b.t1 && a.t1 > b.t0
}

/** Formats a request for people. */
export function tell({
  operation,
  key,
  owner,
  t0,
  t1,
  status,
  body,
  connection,
}: Operation): string {
  const what = `${operation} ${key || owner}`.trim()
  const how = status === 0 ? 'no answer' : `${status}${body === '' ? '' : ` (${body})`}`
  const where = connection === 0 ? '' : `, connection ${connection}`
  return `${what}: ${how}, from ${t0} to ${t1} µs${where}`
}

/** Formats a fault for people. */
export function tellIncident({ fault, key, owner, process, t0, t1, aftermath }: Incident): string {
  const whom = [key, owner, process === 0 ? '' : `process ${process}`].filter((one) => one !== '')
  return `fault: ${[fault, ...whom].join(', ')}, from ${t0} to ${t1} µs, aftermath ${aftermath} µs`
}

/** Formats an entry of the store's record for people. */
export function tellStamp({ key, kind, low, high, claimed_at }: Stamp): string {
  const when = low === high ? `at ${low} µs` : `between ${low} and ${high} µs`
  return `recorded: ${kind} of ${key} ${when}, shown as ${claimed_at}`
}
