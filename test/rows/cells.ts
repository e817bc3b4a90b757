import { MINUTE_US } from '../../src/model/instant.ts'
import type { Names } from './names.ts'
import type { Row, Tables, Value } from './tables.ts'

/** Writes the values of rows without what differs from run to run. */
export interface Cells {
  /** The cells of a row that are not null. */
  of(row: Row, isShown?: (column: string) => boolean): string[]
  cell(row: Row, column: string): string
  /** Sets the time of the act whose rows are written next. */
  begin(span: Span): void
  /** Learns the instants that the database has after an act. */
  end(tables: Tables): void
}

/** The time of an act, in microseconds. */
export interface Span {
  start: number
  end: number
}

/** Random values. */
const SECRET = 'key_hash token_hash hash prefix value subject revision'.split(' ')
const IS_SECRET = /^(?:[0-9a-f]{32,64}|[0-9a-f-]{36}|svc_live_[0-9a-f]{7}|\$argon2.*)$/

/** An act gives instants of this age itself. */
const GIVEN_BEFORE = Date.UTC(2021) * 1_000

export function createCells(names: Names): Cells {
  const seen = new Set<Value>()
  let span: Span = { start: 0, end: 0 }
  const at = (value: number) =>
    seen.has(value) && Number.isFinite(value) ? 'earlier' : instant(value, span)

  function cell(row: Row, column: string): string {
    const value = row[column] ?? null
    if (value === null) return 'null'
    if (column.endsWith('_at')) return at(value as number)
    if (column === 'monotonic') return '…'
    // The slot of time in which a request was counted.
    if (column === 'slot' && 'answered' in row) return 'slot'
    if (typeof value === 'number') return String(value)
    if (SECRET.includes(column) && IS_SECRET.test(value)) return names.of(value) ?? '…'
    if (/^[[{]/.test(value)) return json(JSON.parse(value))
    const text = names.put(value)
    return /^\S+$/.test(text) ? text : JSON.stringify(text)
  }

  /** Sorts lists, because the order of ids can decide theirs. */
  function json(value: unknown): string {
    if (Array.isArray(value)) return `[${value.map(json).toSorted().join(', ')}]`
    if (value !== null && typeof value === 'object') {
      const entries = Object.entries(value).filter(([, one]) => one !== null)
      return `{${entries.map(([key, one]) => `${key}: ${json(one)}`).join(', ')}}`
    }
    if (typeof value === 'number' && value > GIVEN_BEFORE) return at(value)
    return names.put(String(value))
  }

  return {
    cell,
    of: (row, isShown = () => true) =>
      Object.keys(row)
        .filter((column) => row[column] !== null && isShown(column))
        .map((column) => `${column}=${cell(row, column)}`),
    begin(during) {
      span = during
    },
    end(tables) {
      for (const row of Object.values(tables).flat())
        for (const column of Object.keys(row)) if (column.endsWith('_at')) seen.add(row[column]!)
    },
  }
}

function instant(value: number, { start, end }: Span): string {
  if (!Number.isFinite(value)) return String(value)
  if (value < GIVEN_BEFORE) return new Date(value / 1_000).toISOString()
  if (value >= start && value <= end) return 'now'
  const minutes = Math.ceil((value - end) / MINUTE_US)
  if (minutes < 0 || value - minutes * MINUTE_US < start) return 'unforeseen'
  return minutes % 1_440 === 0 ? `now+${minutes / 1_440}d` : `now+${minutes}min`
}
