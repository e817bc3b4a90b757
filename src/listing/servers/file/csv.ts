export const DELIMITERS = [',', ';', '\t'] as const
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

const TO_END: Record<Delimiter, RegExp> = {
  ',': /[,\r\n]/g,
  ';': /[;\r\n]/g,
  '\t': /[\t\r\n]/g,
}

/** Null if the cell begins with a quote and no other one ends it. */
function readCell(
  text: string,
  start: number,
  delimiter: Delimiter,
): { value: string; end: number } | null {
  if (text[start] !== '"') {
    const end = endOf(text, start, delimiter)
    return { value: text.slice(start, end).trim(), end }
  }
  let quote = text.indexOf('"', start + 1)
  // Two quotes stand for one.
  while (quote !== -1 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2)
  if (quote === -1) return null
  const quoted = text.slice(start + 1, quote).replaceAll('""', '"')
  // Text between the quote and the delimiter belongs to the cell, as spreadsheets read it.
  const end = endOf(text, quote + 1, delimiter)
  return { value: quoted + text.slice(quote + 1, end).trimEnd(), end }
}

/** The position of the next delimiter or line break, or the end of the text. */
function endOf(text: string, start: number, delimiter: Delimiter): number {
  const pattern = TO_END[delimiter]
  pattern.lastIndex = start
  return pattern.exec(text)?.index ?? text.length
}

/** A cell of the text that `readCsv` reads. Quotes it if it would read as something else. */
export function writeCell(value: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}
