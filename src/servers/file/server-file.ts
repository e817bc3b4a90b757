import { createTurns, type Turns } from '../../model/turns.ts'
import { count, quote } from '../../model/text.ts'
import { SERVERS_MAX } from '../../model/server-row.ts'
import { inspectEntry, type ServerEntry } from '../server-entry.ts'
import { complaintAboutColumns, findHead, hasNames, namesOf } from './columns.ts'
import { csvRows, type Delimiter } from './csv.ts'
import { jsonRecords } from './json-list.ts'
import { ENTRY_LENGTH_MAX, type FoundRecord, NO_LIST, type Unreadable } from './record.ts'
import { type LeftOut, takeRecords } from './records.ts'

export interface ReadServers {
  entries: ServerEntry[]
  /** Where each entry stands, such as `row 4`. */
  places: string[]
  /** Mistakes, such as `"address" is missing`, with their places, such as `row 4`. */
  wrong: { place: string; message: string }[]
  /** True if reading ended at MISTAKES_MAX. There may be more mistakes and entries. */
  isCut: boolean
  /** The number of servers in the text, wrong ones included. */
  rows: number
  leftOut: LeftOut
  /** An answer of the API with SERVERS_MAX servers. Its owner may have more. */
  isFullAnswer: boolean
}

/** Reading ends with the entry that has this mistake. */
export const MISTAKES_MAX = 100

export interface ReadOptions {
  /** The slug of the place that the servers go to. Null for personal servers. */
  organization?: string | null
  /** A text with more servers is refused before any of them is checked. */
  rowsMax?: number
  turns?: Turns
}

const BEGINS_AS_ANSWER = /^\s*\{/

const BEGINS_AS_JSON = /^\s*[[{]/

/**
 * Reads the servers of a text: a JSON array, an answer of the API, or CSV with a row of names
 * above. Checks each server, and writes nothing. Other work of the event loop runs meanwhile.
 */
export async function readServers(
  text: string,
  {
    organization = null,
    rowsMax = Number.POSITIVE_INFINITY,
    turns = createTurns(),
  }: ReadOptions = {},
): Promise<ReadServers | Unreadable> {
  const reading = recordsOf(text)
  if ('complaint' in reading) return reading
  const found: FoundRecord[] = []
  let rows = 0
  for (;;) {
    const { done, value } = reading.next()
    if (done === true) {
      if (value !== null) return value
      if (rows <= rowsMax) {
        const read = await check(found, organization, turns)
        const isFullAnswer = rows === SERVERS_MAX && BEGINS_AS_ANSWER.test(text)
        return 'complaint' in read ? read : { ...read, isFullAnswer }
      }
      return {
        complaint: `has ${count(rows)} servers, more than the limit of ${count(rowsMax)}`,
      }
    }
    if (value.value !== undefined) rows += 1
    if (value.value !== undefined && rows <= rowsMax) found.push(value)
    await turns.after(value.length)
  }
}

async function check(
  found: readonly FoundRecord[],
  organization: string | null,
  turns: Turns,
): Promise<Omit<ReadServers, 'isFullAnswer'> | Unreadable> {
  const { take, owners, leftOut } = takeRecords(organization)
  const entries: ServerEntry[] = []
  const places: string[] = []
  const wrong: ReadServers['wrong'] = []
  let isCut = false
  for (const { place, value, length, mistake } of found) {
    isCut = wrong.length >= MISTAKES_MAX
    if (isCut) break
    const { record, mistakes } = mistake === undefined ? take(value) : { mistakes: [mistake] }
    if (owners.size > 1) return { complaint: OF_SEVERAL_USERS }
    if (record !== undefined) {
      const inspected = inspectEntry(record)
      if ('wrong' in inspected) mistakes.push(...inspected.wrong)
      else if (mistakes.length === 0) {
        entries.push(inspected.entry)
        places.push(place)
      }
    }
    wrong.push(...mistakes.map((message) => ({ place, message })))
    await turns.after(length)
  }
  if (isCut) wrong.length = MISTAKES_MAX
  return { entries, places, wrong, isCut, rows: found.length, leftOut: leftOut() }
}

const OF_SEVERAL_USERS =
  'has servers of several users. Export those of one with ' +
  '`server-listing server list --user EMAIL --json`'

type Reading = Generator<FoundRecord, Unreadable | null>

/** The answer of the API has only `servers`. */
const BEGINS_AS_LIST = /^\s*(?:\{\s*"servers"\s*:\s*)?\[/

function recordsOf(text: string): Reading | Unreadable {
  if (text.trim() === '')
    return { complaint: 'is empty. It must be a JSON array of servers, or CSV' }
  // Before the search for columns in the first line: all of a JSON text is often one line.
  if (BEGINS_AS_LIST.test(text)) return jsonRecords(text)
  if (BEGINS_AS_JSON.test(text)) return complaintAboutObject(text)
  const head = findHead(text)
  if (head !== null) return csvRecords(text.slice(head.start), head.delimiter)
  return { complaint: NEITHER }
}

const NEITHER =
  'is neither JSON nor CSV. CSV begins with a row such as name,address. Put a comma, a semicolon ' +
  'or a tab between two cells, and no quotes around a whole row'

function complaintAboutObject(text: string): Unreadable {
  // Parsing a long text holds the event loop.
  if (text.length > ENTRY_LENGTH_MAX) return { complaint: NO_LIST }
  try {
    return { complaint: `${NO_LIST}, not ${quote(JSON.parse(text))}` }
  } catch (error) {
    return { complaint: `is not JSON: ${(error as Error).message}` }
  }
}

/** Rows count from 1, as spreadsheets count them. The first one that is not empty has the names. */
function* csvRecords(text: string, delimiter: Delimiter): Reading {
  const reading = csvRows(text, delimiter)
  let columns: Columns | undefined
  for (let number = 1; ; number += 1) {
    const { done, value } = reading.next()
    if (done === true) return value
    const { cells, length } = value
    const place = `row ${number}`
    if (cells.every((cell) => cell === '')) yield { place, value: undefined, length }
    else if (columns === undefined) {
      const names = namesOf(cells)
      const complaint = complaintAboutColumns(names)
      if (complaint !== null) return { complaint }
      columns = { names, named: [...names.entries()].filter(([, name]) => name !== '') }
    } else yield { place, value: toRecord(columns, cells), length, ...mistakeOf(columns, cells) }
  }
}

interface Columns {
  names: readonly string[]
  /** Those with a name, with their indexes: thousands of commas may follow them. */
  named: readonly [number, string][]
}

function mistakeOf({ names }: Columns, cells: readonly string[]): { mistake?: string } {
  if (hasNames(namesOf(cells))) return { mistake: NAMES_AGAIN }
  const at = cells.findIndex((cell, column) => cell !== '' && (names[column] ?? '') === '')
  return at === -1 ? {} : { mistake: sayNameless(cells, at, names) }
}

/** Joined files have a row of names each, and the pages of a spreadsheet can have one. */
const NAMES_AGAIN =
  'has the names of the columns again. Delete this row, or import each file by itself'

function sayNameless(cells: readonly string[], at: number, names: readonly string[]): string {
  return at < names.length
    ? `${quote(cells[at])} stands in column ${at + 1}, which has no name`
    : `${cells.length} cells, but the first row has ${names.length}`
}

function toRecord({ named }: Columns, cells: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(named.map(([index, name]) => [name, cells[index] ?? '']))
}
