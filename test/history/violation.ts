import type { Operation, Stamp } from './record.ts'

/** The limit: two uses of a key are at least this many microseconds apart. */
export const SECOND = 1_000_000
/** How long a process that died, or was cut off, may leave its request under way in the store. */
export const AFTERMATH = 2_500_000

export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9' | 'I10'

export interface Violation {
  invariant: Invariant
  words: string
  /** The requests that contradict each other, or the one that contradicts the rule. */
  operations: readonly Operation[]
  /** From when on the record cannot be right. */
  at: number
}

/** All that is known of one key, each list by its beginning. */
export interface OneKey {
  name: string
  gets: readonly Operation[]
  revokes: readonly Operation[]
  locks: readonly Operation[]
  held: readonly Operation[]
  /** Of the clocks, which are everybody's. */
  steps: readonly Operation[]
  /** In the order of their recording. */
  stamps: readonly Stamp[] | null
}

export function violation(
  invariant: Invariant,
  words: string,
  operations: readonly Operation[],
  at = Math.max(...operations.map(({ t1 }) => t1)),
): Violation {
  return { invariant, words, operations, at }
}

export const AUTHENTICATION_FAILED = 'Authentication service error.'

/** Whether a request may have been a use without its client's knowing: the commit was never acknowledged. */
export function isUnknown({ status, body }: Operation): boolean {
  return status === 0 || (status === 502 && body === AUTHENTICATION_FAILED)
}

export function overlap(a: Operation, b: Operation, aftermath = 0): boolean {
  return a !== b && a.t0 < b.t1 && a.t1 + aftermath > b.t0
}

/** A request as a person reads it. */
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

/** An entry of the store's record as a person reads it. */
export function tellStamp({ key, kind, low, high, used_at }: Stamp): string {
  const when = low === high ? `at ${low} µs` : `between ${low} and ${high} µs`
  return `recorded: ${kind} of ${key} ${when}, shown as ${used_at}`
}
