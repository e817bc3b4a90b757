import { quote } from '../../model/text.ts'
import { DELIMITERS, type Delimiter, readCsv } from './csv.ts'
import { FIELD_NAMES } from '../fields.ts'

/** The columns of an export. */
export const COLUMNS: readonly string[] = ['id', ...FIELD_NAMES, 'updated_at']
const REQUIRED_COLUMNS = ['name', 'address'] as const
/** Those that a row can leave out. */
export const OPTIONAL_COLUMNS = COLUMNS.filter(
  (name) => !(REQUIRED_COLUMNS as readonly string[]).includes(name),
)
/** `port` is joined to the address. `server list` prints the others. */
const OTHER_COLUMNS = ['port', 'organization', 'created_by', 'email', 'external_id']

/** Names in other programs' files. */
const LOOK_ALIKES: Record<(typeof REQUIRED_COLUMNS)[number], readonly string[]> = {
  name: ['title'],
  address: ['ip', 'hostname', 'host'],
}

/** Columns of a file that a complaint names. */
const NAMED_MAX = 20

export interface CsvHead {
  delimiter: Delimiter
  /** Where the rows begin: behind the line `sep=;`, which spreadsheets don't count as a row. */
  start: number
}

/** How a text is CSV. Null if it is not. */
export function findHead(text: string): CsvHead | null {
  // Excel tells itself the delimiter in a line of its own.
  const [line = '', named] = /^sep=([,;\t])(?:\r\n|\n|\r|$)/i.exec(text) ?? []
  const start = line.length
  if (named !== undefined) return { delimiter: named as Delimiter, start }
  const head = firstLine(text)
  const [best] = DELIMITERS.map((delimiter) => ({ delimiter, rating: rate(head, delimiter) }))
    .toSorted((one, other) => other.rating - one.rating)
    .filter(({ rating }) => rating > 0)
  return best === undefined ? null : { delimiter: best.delimiter, start }
}

/** The first line with a cell that is not empty. */
function firstLine(text: string): string {
  const first = text.search(/[^\s,;]/)
  if (first === -1) return ''
  const before = text.slice(0, first)
  const start = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1
  const length = text.slice(first).search(/[\r\n]/)
  return text.slice(start, length === -1 ? undefined : first + length)
}

/** How well a line can be the names of columns, or 0. Names that we know count most. */
function rate(line: string, delimiter: Delimiter): number {
  const rows = readCsv(line, delimiter)
  const names = Array.isArray(rows) ? namesOf(rows[0] ?? []) : []
  const known = names.filter((name) => KNOWN.has(name)).length
  const areNames = names.length > 1 && names.every((name) => /^[\p{L}\p{N} ._-]{0,40}$/u.test(name))
  return known > 0 ? 1 + known : areNames ? 1 : 0
}

const KNOWN = new Set<string>([
  ...COLUMNS,
  ...OTHER_COLUMNS,
  ...LOOK_ALIKES.name,
  ...LOOK_ALIKES.address,
])

/** The names of the columns, in lower case. */
export function namesOf(cells: readonly string[]): string[] {
  return cells.map((name) => name.toLowerCase())
}

/** Whether a row with these names can be the first one. */
export function hasNames(names: readonly string[]): boolean {
  return REQUIRED_COLUMNS.every((name) => names.includes(name))
}

/** What is wrong with the names, in words that follow "the file". Null if nothing is. */
export function complaintAboutColumns(names: readonly string[]): string | null {
  const missing = REQUIRED_COLUMNS.filter((name) => !names.includes(name))
  if (missing.length > 0) return complaintAboutMissing(missing, names)
  const twice = names.find((name, index) => KNOWN.has(name) && names.indexOf(name) !== index)
  return twice === undefined ? null : `has the column ${quote(twice)} twice`
}

function complaintAboutMissing(
  missing: readonly (typeof REQUIRED_COLUMNS)[number][],
  names: readonly string[],
): string {
  const renames = missing.flatMap((name) => {
    const alike = LOOK_ALIKES[name].filter((one) => names.includes(one)).map(quote)
    return alike.length === 0 ? [] : [`Rename ${alike.join(' or ')} to "${name}"`]
  })
  const hints = [
    ...renames,
    ...(missing.includes('address') && names.includes('port')
      ? ['An import joins "port" to the address']
      : []),
  ]
  const named = names.filter((name) => name !== '')
  const shown = named.slice(0, NAMED_MAX).map(quote)
  if (named.length > NAMED_MAX) shown.push('…')
  if (renames.length < missing.length) hints.push(`Its first row has ${shown.join(', ')}`)
  const columns = missing.map((name) => `"${name}"`).join(' and no column ')
  return `is CSV, but has no column ${columns}. ${hints.join('. ')}`
}
