import { namesOf } from '../servers/file/columns.ts'
import { DELIMITERS, type Delimiter, readCsv } from '../servers/file/csv.ts'
import { quote } from '../text.ts'

const REQUIRED = ['key_hash', 'name']
const COLUMNS = [...REQUIRED, 'prefix', 'last_used_at', 'created_at', 'revoked_at', 'id']

/** Whether a text begins with a row of names that has the required columns. */
export function isKeyTable(text: string): boolean {
  return delimiterOf(text) !== null
}

/** The delimiter that splits the first line into cells with all required names, or null. */
function delimiterOf(text: string): Delimiter | null {
  const [line = ''] = text.split(/\r?\n|\r/, 1)
  const splits = (delimiter: Delimiter) => {
    const rows = readCsv(line, delimiter)
    const names = Array.isArray(rows) ? namesOf(rows[0] ?? []) : []
    return REQUIRED.every((name) => names.includes(name))
  }
  return DELIMITERS.find(splits) ?? null
}

/**
 * Reads the rows of a CSV text as the fields of keys. An empty cell is as if left out. Rows without
 * a value are left out.
 */
export function readKeyTable(
  text: string,
): { keys: Record<string, string>[]; rows: number[] } | { complaint: string } {
  const rows = readCsv(text, delimiterOf(text)!)
  if (!Array.isArray(rows)) return rows
  const columns = namesOf(rows[0] ?? [])
  const unknown = columns.find((name) => !COLUMNS.includes(name))
  if (unknown !== undefined)
    return { complaint: `has a column ${quote(unknown)}. The columns are ${COLUMNS.join(', ')}` }
  const wide = rows.findIndex((cells) => cells.length > columns.length)
  if (wide > 0) return { complaint: `has more cells in row ${wide + 1} than in the first row` }
  const filled = rows.flatMap((cells, index) =>
    index === 0 || cells.every((cell) => cell === '') ? [] : [{ cells, number: index + 1 }],
  )
  return {
    keys: filled.map(({ cells }) =>
      Object.fromEntries(
        columns.flatMap((name, index) => {
          const cell = cells[index] ?? ''
          return cell === '' ? [] : [[name, cell]]
        }),
      ),
    ),
    rows: filled.map(({ number }) => number),
  }
}
