import assert from 'node:assert/strict'
import { check, describe } from './check.ts'
import type { History, Operation, Stamp } from './record.ts'

/** Histories of a few lines. Times are in milliseconds; the key is `k`, its owner `ada`, where nothing else is said. */

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
  }
}

export function stamp(at: number, rest: Partial<Stamp> = {}): Stamp {
  const microseconds = at * 1_000
  return {
    key: 'k',
    kind: 'use',
    at: microseconds,
    low: microseconds,
    high: microseconds,
    used_at: microseconds,
    ...rest,
  }
}

/** The clock that the store decides by is set, by so many seconds; or the one that it shows times by. */
export function step(
  from: number,
  to: number,
  seconds: number,
  what: 'step' | 'shown step' = 'step',
): Operation {
  return { ...operation(what, from, to), key: '', owner: '', body: String(seconds) }
}

/** A list that stands from the beginning, and these operations. */
export function history(operations: readonly Operation[], rest: Partial<History> = {}): History {
  return {
    operations: [change(-20_000, -19_000, 'v1'), ...operations],
    stamps: null,
    lastUses: null,
    calmFrom: null,
    ...rest,
  }
}

/** The checker finds this first. */
export function alarm(invariant: string, ...of: Parameters<typeof history>): void {
  const found = check(history(...of))
  assert.equal(found?.invariant, invariant, found === null ? 'nothing was seen' : describe(found))
}

/** The checker finds nothing. */
export function silence(...of: Parameters<typeof history>): void {
  const found = check(history(...of))
  assert.equal(found, null, found === null ? '' : describe(found))
}
