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
    at: microseconds,
    low: microseconds,
    high: microseconds,
    used_at: microseconds,
    ...rest,
  }
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
