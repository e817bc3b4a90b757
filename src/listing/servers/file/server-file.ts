import { isUtf8 } from 'node:buffer'
import { formatInstant } from '../../instant.ts'
import { quote } from '../../text.ts'
import type { ServerRecord } from '../server-import.ts'
import { inspectEntries, type ServerEntry } from '../server-entry.ts'
import { delimiterOf, headOf, readCsv, writeCell } from './csv.ts'

/** A file that can't be read has one complaint. Its words follow "the file". */
export interface Unreadable {
  complaint: string
}

export interface ReadServers {
  entries: ServerEntry[]
  /** Where each entry stands, such as `row 4`. */
  places: string[]
  /** Every mistake, such as `"address" is missing`, with its place, such as `row 4`. */
  wrong: { place: string; message: string }[]
  /** The number of servers in the text, wrong ones included. */
  rows: number
}

const COLUMNS = [
  'name',
  'address',
  'slug',
  'edition',
  'version',
  'listing_kind',
  'status',
  'updated_at',
] as const
const REQUIRED_COLUMNS = ['name', 'address']
/** An empty cell of these columns empties the field. In other columns it is as if left out. */
const EMPTIED_COLUMNS = new Set<string>(['slug', 'version', 'listing_kind'])

const BEGINS_AS_JSON = /^\s*[[{]/

/** The text of an uploaded file. */
export function decodeText(bytes: Buffer): { text: string } | Unreadable {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    return { complaint: 'is UTF-16 text. Save it as UTF-8 and try again' }
  if (bytes.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004')
    return { complaint: 'is a spreadsheet or an archive. Save the sheet as CSV and try again' }
  if (bytes.includes(0)) return { complaint: 'is not a text file' }
  if (!isUtf8(bytes))
    return { complaint: 'is not UTF-8 text. Save it as UTF-8 (“CSV UTF-8”) and try again' }
  return { text: bytes.toString().replace(/^\uFEFF/, '') }
}

/**
 * Reads the servers of a text: a JSON array, or CSV with a row of names above. Checks each server,
 * and writes nothing.
 */
export function readServers(text: string): ReadServers | Unreadable {
  if (text.trim() === '')
    return { complaint: 'is empty. It must be a JSON array of servers, or CSV' }
  // Before the search for columns in the first line: all of a JSON text is often one line.
  if (BEGINS_AS_JSON.test(text)) return readJson(text)
  const delimiter = delimiterOf(text, REQUIRED_COLUMNS)
  if (delimiter === null) return readJson(text)
  const rows = readCsv(text, delimiter)
  if (!Array.isArray(rows))
    return { complaint: `has a cell in row ${rows.openRow} that begins with " and does not end` }
  const columns = headOf(rows)
  const complaint = complaintAboutColumns(columns)
  return complaint === null ? readRows(columns, rows) : { complaint }
}

function readJson(text: string): ReadServers | Unreadable {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch (error) {
    if (BEGINS_AS_JSON.test(text)) return { complaint: `is not JSON: ${(error as Error).message}` }
    return { complaint: 'is neither JSON nor CSV. CSV begins with a row such as name,address' }
  }
  if (!Array.isArray(list))
    return { complaint: `must be a JSON array of servers, not ${quote(list)}` }
  const { entries, indexes, wrong } = inspectEntries(list)
  const placeOf = (index: number) => `entry ${index + 1}`
  return {
    entries,
    places: indexes.map(placeOf),
    wrong: wrong.map(({ index, message }) => ({ place: placeOf(index), message })),
    rows: list.length,
  }
}

function complaintAboutColumns(columns: readonly string[]): string | null {
  const known: readonly string[] = COLUMNS
  const unknown = columns.find((name) => !known.includes(name))
  if (unknown !== undefined)
    return `has a column ${quote(unknown)}. The columns are ${COLUMNS.join(', ')}`
  const twice = columns.find((name, index) => columns.indexOf(name) !== index)
  return twice === undefined ? null : `has the column ${quote(twice)} twice`
}

/** Rows count from 1, with the names of the columns in the first one. */
function readRows(columns: readonly string[], rows: readonly string[][]): ReadServers {
  const filled = rows.flatMap((cells, index) =>
    index === 0 || cells.every((cell) => cell === '') ? [] : [{ cells, number: index + 1 }],
  )
  const wide = filled.filter(({ cells }) => cells.length > columns.length)
  const placeOf = (index: number) => `row ${filled[index]!.number}`
  const records = filled.map(({ cells }) => toEntry(columns, cells))
  const { entries, indexes, wrong } = inspectEntries(records)
  return {
    entries,
    places: indexes.map(placeOf),
    wrong: [
      ...wide.map(({ cells, number }) => {
        const [has, head] = [cells.length, columns.length]
        return { place: `row ${number}`, message: `${has} cells, but the first row has ${head}` }
      }),
      ...wrong.map(({ index, message }) => ({ place: placeOf(index), message })),
    ],
    rows: filled.length,
  }
}

function toEntry(columns: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const named = columns.flatMap((name, index): [string, string | null][] => {
    const cell = cells[index] ?? ''
    if (cell !== '' || REQUIRED_COLUMNS.includes(name)) return [[name, cell]]
    return EMPTIED_COLUMNS.has(name) ? [[name, null]] : []
  })
  return Object.fromEntries(named)
}

/** Servers as `readServers` reads them. Read again, they change nothing. */
export function writeServers(servers: readonly ServerRecord[], format: 'json' | 'csv'): string {
  const records = servers.map((server): Record<string, string | null> => {
    const { name, address, slug, edition, version, listing_kind, status } = server
    const updated_at = formatInstant(server.updated_at)
    return { name, address, slug, edition, version, listing_kind, status, updated_at }
  })
  if (format === 'json') return `${JSON.stringify(records, null, 2)}\n`
  const lines = records.map((record) =>
    COLUMNS.map((column) => writeCell(record[column] ?? '')).join(','),
  )
  // With a byte order mark, spreadsheets read the text as UTF-8.
  return `\uFEFF${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`
}
