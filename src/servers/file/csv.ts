import { count } from '../../model/text.ts'
import { ENTRY_LENGTH_MAX, type Unreadable } from './record.ts'

export const DELIMITERS = [',', ';', '\t'] as const
export type Delimiter = (typeof DELIMITERS)[number]

/**
 * The rows of a CSV text (RFC 4180), each as its cells. A cell loses the spaces around it and
 * within its quotes. Returns the complaint about the row at which reading ends, or null.
 */
export function* csvRows(
  text: string,
  delimiter: Delimiter,
): Generator<{ cells: string[]; length: number }, Unreadable | null> {
  let start = 0
  for (let number = 1; start < text.length; number += 1) {
    const cells: string[] = []
    let rest = start
    for (;;) {
      const cell = readCell(text, rest, delimiter, start + ENTRY_LENGTH_MAX)
      if (typeof cell === 'string') return { complaint: COMPLAINTS[cell](number) }
      cells.push(cell.value)
      rest = cell.end
      if (text[rest] !== delimiter) break
      rest += 1
    }
    rest += text.startsWith('\r\n', rest) ? 2 : 1
    yield { cells, length: rest - start }
    start = rest
  }
  return null
}

/** All rows at once, for a text that needs no pause between them. */
export function readCsv(text: string, delimiter: Delimiter): string[][] | Unreadable {
  const reading = csvRows(text, delimiter)
  const rows: string[][] = []
  for (;;) {
    const { done, value } = reading.next()
    if (done === true) return value ?? rows
    rows.push(value.cells)
  }
}

const COMPLAINTS = {
  open: (row: number) => `has a cell in row ${row} that begins with " and does not end`,
  behind: (row: number) =>
    `has text behind the closing " of a cell in row ${row}. Write each " within a quoted cell twice`,
  long: (row: number) => `has more than ${count(ENTRY_LENGTH_MAX)} characters in row ${row}`,
  // A quote that stands alone makes one cell of all rows up to the next quote.
  longOpen: (row: number) =>
    `has a cell in row ${row} that begins with " and does not end within ${count(ENTRY_LENGTH_MAX)} characters`,
}

const TO_END: Record<Delimiter, RegExp> = {
  ',': /[^,\r\n]*/y,
  ';': /[^;\r\n]*/y,
  '\t': /[^\t\r\n]*/y,
}

/** Returns what is wrong if the cell does not end before the index `last`. */
function readCell(
  text: string,
  start: number,
  delimiter: Delimiter,
  last: number,
): { value: string; end: number } | keyof typeof COMPLAINTS {
  const bare = match(TO_END[delimiter], text, start)
  const value = bare.trim()
  if (!value.startsWith('"')) {
    const end = start + bare.length
    return end > last ? 'long' : { value, end }
  }
  const open = text.indexOf('"', start) + 1
  const quote = endOfQuoted(text, open, last)
  if (typeof quote === 'string') return quote
  const tail = match(TO_END[delimiter], text, quote + 1)
  const end = quote + 1 + tail.length
  if (end > last) return 'long'
  if (tail.trim() !== '') return 'behind'
  return { value: text.slice(open, quote).replaceAll('""', '"').trim(), end }
}

/** The index of the quote that ends a cell. */
function endOfQuoted(text: string, start: number, last: number): number | keyof typeof COMPLAINTS {
  for (let at = start; ; at += 2) {
    at = text.indexOf('"', at)
    if (at < 0) return 'open'
    if (at > last) return 'longOpen'
    if (text[at + 1] !== '"') return at
  }
}

function match(pattern: RegExp, text: string, start: number): string {
  pattern.lastIndex = start
  return pattern.exec(text)![0]
}

/** A cell of the text that `readCsv` reads. Quotes it if it would read as something else. */
export function writeCell(value: string): string {
  return /[",;\t\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}
