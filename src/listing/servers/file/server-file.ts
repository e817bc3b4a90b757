import { isUtf8 } from 'node:buffer'
import { quote } from '../../text.ts'
import { inspectEntries, type ServerEntry } from '../server-entry.ts'
import { complaintAboutColumns, findHead, namesOf, REQUIRED_COLUMNS } from './columns.ts'
import { readCsv } from './csv.ts'
import { type LeftOut, toRecords } from './records.ts'

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
  leftOut: LeftOut
}

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
 * Reads the servers of a text: a JSON array, an answer of the API, or CSV with a row of names
 * above. Checks each server, and writes nothing. `organization` is the slug of the place that they
 * go to.
 */
export function readServers(
  text: string,
  organization: string | null = null,
): ReadServers | Unreadable {
  if (text.trim() === '')
    return { complaint: 'is empty. It must be a JSON array of servers, or CSV' }
  // Before the search for columns in the first line: all of a JSON text is often one line.
  if (BEGINS_AS_JSON.test(text)) return readJson(text, organization)
  const head = findHead(text)
  if (head === null) return readJson(text, organization)
  const rows = readCsv(text.slice(head.start), head.delimiter)
  if (!Array.isArray(rows))
    return { complaint: `has a cell in row ${rows.openRow} that begins with " and does not end` }
  const first = rows.findIndex((cells) => cells.some((cell) => cell !== ''))
  const columns = namesOf(rows[first] ?? [])
  const complaint = complaintAboutColumns(columns)
  return complaint === null ? readRows(columns, rows, first, organization) : { complaint }
}

function readJson(text: string, organization: string | null): ReadServers | Unreadable {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch (error) {
    if (BEGINS_AS_JSON.test(text)) return { complaint: `is not JSON: ${(error as Error).message}` }
    return { complaint: 'is neither JSON nor CSV. CSV begins with a row such as name,address' }
  }
  const servers = serversOfAnswer(list)
  if (!Array.isArray(servers))
    return {
      complaint: `must be a JSON array of servers, or an answer of the API, not ${quote(list)}`,
    }
  return inspect(servers, organization, (index) => `entry ${index + 1}`)
}

/** The API answers with an object that has only `servers`. */
function serversOfAnswer(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.keys(value).join() === 'servers' && 'servers' in value ? value.servers : value
}

function inspect(
  list: readonly unknown[],
  organization: string | null,
  placeOf: (index: number) => string,
): ReadServers | Unreadable {
  const found = toRecords(list, organization)
  if (found.owners.size > 1)
    return {
      complaint:
        'has servers of several users. `server-listing server list --user` lists those of one',
    }
  const { entries, indexes, wrong } = inspectEntries(found.records)
  const place = (index: number) => placeOf(found.indexes[index]!)
  return {
    entries,
    places: indexes.map(place),
    wrong: [
      ...found.wrong.map(({ index, message }) => ({ place: placeOf(index), message })),
      ...wrong.map(({ index, message }) => ({ place: place(index), message })),
    ],
    rows: list.length,
    leftOut: found.leftOut,
  }
}

/** Rows count from 1, as spreadsheets count them. `first` is the one with the names. */
function readRows(
  columns: readonly string[],
  rows: readonly string[][],
  first: number,
  organization: string | null,
): ReadServers | Unreadable {
  const filled = rows.flatMap((cells, index) =>
    index <= first || cells.every((cell) => cell === '') ? [] : [{ cells, number: index + 1 }],
  )
  const placeOf = (index: number) => `row ${filled[index]!.number}`
  const nameless = filled.flatMap(({ cells }, index) => {
    const at = cells.findIndex((cell, column) => cell !== '' && (columns[column] ?? '') === '')
    return at === -1 ? [] : [{ place: placeOf(index), message: sayNameless(cells, at, columns) }]
  })
  const records = filled.map(({ cells }) => toRecord(columns, cells))
  const read = inspect(records, organization, placeOf)
  return 'complaint' in read ? read : { ...read, wrong: [...nameless, ...read.wrong] }
}

function sayNameless(cells: readonly string[], at: number, columns: readonly string[]): string {
  return at < columns.length
    ? `${quote(cells[at])} stands in column ${at + 1}, which has no name`
    : `${cells.length} cells, but the first row has ${columns.length}`
}

function toRecord(columns: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const required: readonly string[] = REQUIRED_COLUMNS
  const named = columns.flatMap((name, index): [string, string | null][] => {
    const cell = cells[index] ?? ''
    if (name === '') return []
    if (cell !== '' || required.includes(name)) return [[name, cell]]
    return EMPTIED_COLUMNS.has(name) ? [[name, null]] : []
  })
  return Object.fromEntries(named)
}
