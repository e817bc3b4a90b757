const DELIMITERS = [',', ';', '\t'] as const
export type Delimiter = (typeof DELIMITERS)[number]

/**
 * The rows of a CSV text (RFC 4180), each as its cells. A cell without quotes loses the spaces
 * around it. Returns the number of the row in which a quoted cell does not end, if there is one.
 */
export function readCsv(text: string, delimiter: Delimiter): string[][] | { openRow: number } {
  const rows: string[][] = []
  const cells: string[] = []
  let rest = 0
  while (rest < text.length) {
    const cell = readCell(text, rest, delimiter)
    if (cell === null) return { openRow: rows.length + 1 }
    cells.push(cell.value)
    rest = cell.end
    if (text[rest] === delimiter) {
      rest += 1
      // A delimiter at the end of the text stands before one more, empty cell.
      if (rest < text.length) continue
      cells.push('')
    }
    rest += text.startsWith('\r\n', rest) ? 2 : 1
    rows.push(cells.splice(0))
  }
  return rows
}

const TO_QUOTE = /[^"]*(?:""[^"]*)*/y
const TO_END: Record<Delimiter, RegExp> = {
  ',': /[^,\r\n]*/y,
  ';': /[^;\r\n]*/y,
  '\t': /[^\t\r\n]*/y,
}

/** Null if the cell begins with a quote and no other one ends it. */
function readCell(
  text: string,
  start: number,
  delimiter: Delimiter,
): { value: string; end: number } | null {
  if (text[start] !== '"') {
    const value = match(TO_END[delimiter], text, start)
    return { value: value.trim(), end: start + value.length }
  }
  const quoted = match(TO_QUOTE, text, start + 1)
  const end = start + 1 + quoted.length
  if (text[end] !== '"') return null
  // Text between the quote and the delimiter belongs to the cell, as spreadsheets read it.
  const tail = match(TO_END[delimiter], text, end + 1)
  return { value: quoted.replaceAll('""', '"') + tail.trimEnd(), end: end + 1 + tail.length }
}

function match(pattern: RegExp, text: string, start: number): string {
  pattern.lastIndex = start
  return pattern.exec(text)![0]
}

/** The delimiter that splits the first line into cells with all of these names, or null. */
export function delimiterOf(text: string, names: readonly string[]): Delimiter | null {
  const [line = ''] = text.split(/\r?\n|\r/, 1)
  const splits = (delimiter: Delimiter) => {
    const rows = readCsv(line, delimiter)
    return Array.isArray(rows) && names.every((name) => headOf(rows).includes(name))
  }
  return DELIMITERS.find(splits) ?? null
}

/** The names of the columns, in lower case. */
export function headOf(rows: readonly string[][]): string[] {
  return (rows[0] ?? []).map((name) => name.trim().toLowerCase())
}

/** A cell of the text that `readCsv` reads. Quotes it if it would read as something else. */
export function writeCell(value: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}
