import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Returns microseconds on the clock of a record: CLOCK_MONOTONIC, which all processes share and no
 * program can set.
 */
export function now(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

/**
 * One request or act, from before it was sent to after its answer was read.
 *
 * `get` is a request with a key and `health` one without. The operator does `issue`, `revoke` and
 * `change` (of an owner's list). `held` is a time in which another session surely held the lock of
 * the key's row. `unasked` is an answer without a request. `step` sets the clock by which the store
 * decides and stamps. `shown step` sets one that decides nothing and only yields `last_used_at`.
 */
export interface Operation {
  operation:
    | 'get'
    | 'health'
    | 'issue'
    | 'revoke'
    | 'change'
    | 'held'
    | 'unasked'
    | 'step'
    | 'shown step'
  /** A name for the key, never the key itself; empty if there is none. */
  key: string
  /** Owner of the key or list. */
  owner: string
  t0: number
  t1: number
  /**
   * Status of the answer. 200 for an act of the operator. 0 without an answer: it may have been
   * done or not.
   */
  status: number
  /**
   * For a 200 or a change, the state of the list in one word. For any other answer, its sentence.
   * For a step, by how many seconds the clock was set, negative if it was set back.
   */
  body: string
  /** The connection, and the place of the request on it, both from 1. 0 if there was none. */
  connection: number
  place: number
  /**
   * The process, from 1. A process that replaces another one keeps its number. 0 if there was none.
   */
  process: number
  /** What is wrong with the form of the answer, in header or body. Absent if nothing is. */
  flaw?: string
}

/** How a request can fail: with one of the two 502s, or without an answer. */
export type Failure = 'list' | 'authentication' | 'no answer'

/** A fault that happened, from before its beginning to after its end. */
export interface Incident {
  fault: string
  t0: number
  t1: number
  /**
   * What it touches: one key, one owner's keys, the requests to one process. Empty or 0 means
   * everything.
   */
  key: string
  owner: string
  process: number
  /** How the requests that it touches may fail. */
  failures: readonly Failure[]
  /** Time after its end in which requests may still fail because of it, in microseconds. */
  aftermath: number
  /** True if it can leave a transaction in the store that no request waits for. */
  orphans: boolean
  /**
   * True for a lasting fault. The service must serve everything that it does not touch as usual.
   */
  stays: boolean
}

/**
 * A granted claim in the store's own record, written by the claim's transaction, in their order.
 */
export interface Stamp {
  key: string
  /**
   * A clamp is not a claim: the last stamp lay in the future of a clock that was set back, and now
   * counts as the present.
   */
  kind: 'claim' | 'clamp'
  /** On the clock by which the store decides, minus its steps. */
  at: number
  /** Bounds of the same instant on the clock of the record. */
  low: number
  high: number
  /** What the store shows as `last_used_at` from then on. */
  claimed_at: number
}

export interface History {
  operations: readonly Operation[]
  /** Null if faults were not recorded. */
  incidents: readonly Incident[] | null
  /** Null if the store kept no record of its own. */
  stamps: readonly Stamp[] | null
  /**
   * `last_used_at` of each key at the end, null for a key never used; null if the run did not read
   * it.
   */
  lastUses: Readonly<Record<string, number | null>> | null
  /** End of the last fault, from when on everything runs; null if unknown. */
  calmFrom: number | null
}

/** Writes a record as JSON lines. The first line holds everything but the operations. */
export function writeHistory(path: string, { operations, ...rest }: History): void {
  writeFileSync(path, [rest, ...operations].map((line) => JSON.stringify(line)).join('\n'))
}

export function readHistory(path: string): History {
  const [rest = '{}', ...lines] = readFileSync(path, 'utf8').split('\n')
  const operations = lines.map((line) => JSON.parse(line) as Operation)
  return { ...(JSON.parse(rest) as Omit<History, 'operations'>), operations }
}
