import { type ServerEntry, readValue } from '../../server-entry.ts'
import type { Instant } from '../../../model/instant.ts'
import { type ServerRow, SERVER_DEFAULTS } from '../../../model/server-row.ts'

/** A server of the user in the place that the entries go to. */
export interface ImportedRow extends ServerRow {
  updated_at: Instant
}

export type Column = keyof ImportedRow

/** Fields that an entry may leave out. A stored server then keeps its own. */
export const OPTIONAL = [
  'slug',
  'edition',
  'status',
  'version',
  'listing_kind',
  'updated_at',
] as const
export type Optional = (typeof OPTIONAL)[number]

/** A server before and after, with the optional fields that an entry sets. */
export interface ChangedServer {
  stored: ImportedRow
  row: ImportedRow
  named: ReadonlySet<Optional>
}

/** The columns that get another value. The instant is one of them only if an entry sets it. */
export function changedFields({ stored, row, named }: ChangedServer): Column[] {
  return (Object.keys(stored) as Column[]).filter(
    (key) => row[key] !== stored[key] && (key !== 'updated_at' || named.has(key)),
  )
}

/** What a new server has in the fields that its entry leaves out. */
export const NEW_ROW = { slug: null, version: null, listing_kind: null, ...SERVER_DEFAULTS }

/**
 * The server with the fields of an entry. A value that says what is stored stays as it is, because
 * an earlier version stored spaces and words for no value.
 */
export function applied(
  { address, ...given }: ServerEntry,
  before: Omit<ImportedRow, 'name' | 'host_label' | 'updated_at'>,
  now: Instant,
): ImportedRow {
  const row = { ...before, updated_at: now, ...given, host_label: address }
  for (const [column, value] of Object.entries(before))
    if (readValue(value) === row[column as Column]) Object.assign(row, { [column]: value })
  return row
}

/** The columns that an entry sets. One without a slug leaves the slug. */
export function columnsOf(entry: ServerEntry): Column[] {
  const given = OPTIONAL.filter(
    (field) => entry[field] !== undefined && (field !== 'slug' || entry.slug),
  )
  return ['name', 'host_label', ...given]
}

/** The value that an entry gives to a column. */
export function valueIn(entry: ServerEntry, column: Column): unknown {
  return column === 'host_label' ? entry.address : entry[column as keyof ServerEntry]
}
