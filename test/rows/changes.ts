import { createCells, type Span } from './cells.ts'
import { type Names, nameRows, sorted } from './names.ts'
import type { Row, Tables } from './tables.ts'

/** The columns that identify a row, where it is not the first of IDENTIFYING. */
const KEYS: Record<string, string[]> = {
  identities: ['issuer', 'subject'],
  members: ['organization_id', 'user_id'],
  usage_counts: ['slot', 'api_key_id'],
}
const IDENTIFYING = 'id key_hash api_key_id user_id name only_row'.split(' ')

/** Nothing refers to rows of these tables. */
const NAMELESS = ['audit_log', 'sign_in_attempts']

/** `api_key_uses`, a view on SQLite, shows on both engines what these are for. */
const SHOWN_BY_VIEW = [
  'recent_claims',
  'last_claims',
  'older_claims',
  'boots',
  'api_keys.last_used_at',
]
/** The order of random ids can decide these numbers. */
const NUMBERS = ['api_keys.serial', 'revoked_hashes.number']
/** The number of a transaction of this server. */
const TRANSACTION = 'audit_log.xid'
const LEFT_OUT = [...SHOWN_BY_VIEW, ...NUMBERS, TRANSACTION]

/** PostgreSQL has this column alone, so it gets a line of its own. */
const OWN = ['api_keys.slot']

/** Says what acts do to the tables. */
export interface Changes {
  /** The lines for one act, in an order that does not depend on chance. */
  between(before: Tables, after: Tables, span: Span): string[]
}

export function createChanges(names: Names): Changes {
  const cells = createCells(names)
  const common = (table: string, row: Row) => cells.of(row, (column) => isCommon(table, column))
  const order = (table: string, row: Row) => common(table, row).join(' ')

  /** What identifies the row, in names. */
  function frontOf(table: string, row: Row): string {
    return identifying(table, row)
      .map((column) => cells.cell(row, column))
      .join('/')
  }

  function addedLines(table: string, row: Row): string[] {
    const front = `${table} + ${frontOf(table, row)}`
    const known = NAMELESS.includes(table) ? ['id', 'subject'] : identifying(table, row)
    const rest = cells.of(row, (column) => isCommon(table, column) && !known.includes(column))
    const own = cells.of(row, (column) => OWN.includes(`${table}.${column}`))
    return [[front, ...rest].join(' '), ...own.map((cell) => `${front} ${cell}`)]
  }

  function changedLines(table: string, from: Row, to: Row): string[] {
    const columns = Object.keys(to).filter((column) => from[column] !== to[column])
    const parts = [
      columns.filter((column) => isCommon(table, column)),
      columns.filter((column) => OWN.includes(`${table}.${column}`)),
    ]
    const tell = (column: string) =>
      `${column} ${cells.cell(from, column)} → ${cells.cell(to, column)}`
    return parts
      .filter((part) => part.length > 0)
      .map((part) => `${table} ~ ${frontOf(table, to)}: ${part.map(tell).join(', ')}`)
  }

  function linesOf({ table, added, removed, changed }: Change): string[] {
    const lines = [
      ...removed.map((row) => `${table} - ${frontOf(table, row)}`),
      ...sorted(table, added, order).flatMap((row) => addedLines(table, row)),
      ...changed.flatMap(({ from, to }) => changedLines(table, from, to)),
    ]
    return [...Map.groupBy(lines, (line) => line)]
      .map(([line, { length }]) => (length === 1 ? line : `${line} (${length} times)`))
      .toSorted()
  }

  return {
    between(before, after, span) {
      cells.begin(span)
      const changes = Object.keys({ ...before, ...after })
        .filter((table) => !LEFT_OUT.includes(table))
        .toSorted()
        .map((table) => compare(table, before[table] ?? [], after[table] ?? []))
      nameRows(names, Object.fromEntries(changes.map((one) => [one.table, one.added])), order)
      const lines = changes.flatMap(linesOf)
      cells.end(after)
      return lines
    },
  }
}

interface Change {
  table: string
  added: Row[]
  removed: Row[]
  changed: { from: Row; to: Row }[]
}

function compare(table: string, before: readonly Row[], after: readonly Row[]): Change {
  const identify = (row: Row) =>
    keyOf(table, row)
      .map((column) => row[column])
      .join('\n')
  const earlier = new Map(before.map((row) => [identify(row), row]))
  const later = new Map(after.map((row) => [identify(row), row]))
  return {
    table,
    removed: before.filter((row) => !later.has(identify(row))),
    added: after.filter((row) => !earlier.has(identify(row))),
    changed: after.flatMap((to) => {
      const from = earlier.get(identify(to))
      return from === undefined ? [] : [{ from, to }]
    }),
  }
}

function keyOf(table: string, row: Row): string[] {
  return KEYS[table] ?? [IDENTIFYING.find((column) => column in row)!]
}

/** The columns at the front of a row's line. */
function identifying(table: string, row: Row): string[] {
  return NAMELESS.includes(table) ? ['subject'] : keyOf(table, row)
}

function isCommon(table: string, column: string): boolean {
  const name = `${table}.${column}`
  return !OWN.includes(name) && !LEFT_OUT.includes(name)
}
