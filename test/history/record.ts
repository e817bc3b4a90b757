import { readFileSync, writeFileSync } from 'node:fs'

/** Microseconds on the one clock of a record: CLOCK_MONOTONIC, which nobody can set and all processes share. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

/**
 * One thing that was asked, from the moment before it was sent to the moment after its answer was read.
 *
 * `get` is a request with a key, `health` one without. `issue`, `revoke` and `change` (of an owner's list) are an
 * operator's. `lock` is a stranger's lock on the key's row from before it was asked for until after it was given up, `held`
 * the time within that in which it certainly was there. `unasked` is an answer that nobody had asked for. `step` is a
 * setting of the clock that the store decides by, and stamps with; `shown step` of one that it decides nothing by, and
 * only takes `last_used_at` from.
 */
export interface Operation {
  operation:
    | 'get'
    | 'health'
    | 'issue'
    | 'revoke'
    | 'change'
    | 'lock'
    | 'held'
    | 'unasked'
    | 'step'
    | 'shown step'
  /** A name for the key, never the key; empty where there is none. */
  key: string
  /** Whose key, or list, it is. */
  owner: string
  t0: number
  t1: number
  /** Of the answer; 200 for what an operator did; 0 where no answer came, so that it may have been done or not. */
  status: number
  /**
   * Of a 200 or a change: the state of the list, as one word. Of any other answer: its sentence. Of a step: by how many
   * seconds the clock was set, with a minus where it was set back.
   */
  body: string
  /** Which connection, and which request on it, from 1; 0 for what went over none. */
  connection: number
  place: number
}

/** One use in the store's own record, made by the transaction that recorded it. In the order of the recording. */
export interface Stamp {
  key: string
  /** A clamp is no use: the last one had come to lie in the future of a clock that was set back, and counts as of now. */
  kind: 'use' | 'clamp'
  /** On the clock that the store decides by, less the steps that were made of it. */
  at: number
  /** The same moment on the clock of the record, as nearly as the two can be compared. */
  low: number
  high: number
  /** What was shown as `last_used_at` from then on. */
  used_at: number
}

export interface History {
  operations: readonly Operation[]
  /** Null where the store kept no record of its own. */
  stamps: readonly Stamp[] | null
  /** `last_used_at` of each key when all was over, null for a key never used; null where nobody looked. */
  lastUses: Readonly<Record<string, number | null>> | null
  /** When the last fault was over and everything ran; null where that is not known. */
  calmFrom: number | null
}

/** A record as JSON lines: what is not an operation first. */
export function writeHistory(path: string, { operations, ...rest }: History): void {
  writeFileSync(path, [rest, ...operations].map((line) => JSON.stringify(line)).join('\n'))
}

export function readHistory(path: string): History {
  const [rest = '{}', ...lines] = readFileSync(path, 'utf8').split('\n')
  const operations = lines.map((line) => JSON.parse(line) as Operation)
  return { ...(JSON.parse(rest) as Omit<History, 'operations'>), operations }
}
