import assert from 'node:assert/strict'
import { check, describe } from '../check/check.ts'
import type { History, Incident, Operation, Stamp } from './record.ts'

/**
 * Histories of a few lines. Times are in milliseconds. By default the key is `k` and its owner
 * `ada`.
 */

export function get(
  from: number,
  to: number,
  status: number,
  rest: Partial<Operation> = {},
): Operation {
  const body = status === 200 ? 'v1' : ''
  return { ...operation('get', from, to, status), body, ...rest }
}

export function revoke(from: number, to: number, status = 200): Operation {
  return operation('revoke', from, to, status)
}

export function change(from: number, to: number, body: string, status = 200): Operation {
  return { ...operation('change', from, to, status), key: '', body }
}

export function operation(
  what: Operation['operation'],
  from: number,
  to: number,
  status = 200,
): Operation {
  const [t0, t1] = [from * 1_000, to * 1_000]
  return {
    operation: what,
    key: 'k',
    owner: 'ada',
    t0,
    t1,
    status,
    body: '',
    connection: 0,
    place: 0,
    process: 1,
  }
}

/** By default a fault touches everything, can cause any failure and has no aftermath. */
export function incident(from: number, to: number, rest: Partial<Incident> = {}): Incident {
  return {
    fault: 'fault',
    t0: from * 1_000,
    t1: to * 1_000,
    key: '',
    owner: '',
    process: 0,
    failures: ['list', 'authentication', 'no answer'],
    aftermath: 0,
    orphans: false,
    stays: false,
    ...rest,
  }
}

export function stamp(at: number, rest: Partial<Stamp> = {}): Stamp {
  const microseconds = at * 1_000
  return {
    key: 'k',
    kind: 'claim',
    at: microseconds,
    low: microseconds,
    high: microseconds,
    claimed_at: microseconds,
    ...rest,
  }
}

/**
 * Sets the clock by which the store decides, or the one by which it only shows times, by this many
 * seconds.
 */
export function step(
  from: number,
  to: number,
  seconds: number,
  what: 'step' | 'shown step' = 'step',
): Operation {
  return { ...operation(what, from, to), key: '', owner: '', body: String(seconds) }
}

/** A list that exists from the beginning, and these operations. */
export function history(operations: readonly Operation[], rest: Partial<History> = {}): History {
  return {
    operations: [change(-20_000, -19_000, 'v1'), ...operations],
    incidents: null,
    stamps: null,
    lastUses: null,
    calmFrom: null,
    ...rest,
  }
}

/** Asserts that the checker finds this violation first. */
export function alarm(invariant: string, ...of: Parameters<typeof history>): void {
  const found = check(history(...of))
  assert.equal(found?.invariant, invariant, found === null ? 'nothing was seen' : describe(found))
}

/** Asserts that the checker finds nothing. */
export function silence(...of: Parameters<typeof history>): void {
  const found = check(history(...of))
  assert.equal(found, null, found === null ? '' : describe(found))
}
