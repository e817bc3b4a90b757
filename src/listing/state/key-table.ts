import { namesOf } from '../servers/file/columns.ts'
import { csvRows, DELIMITERS, type Delimiter, readCsv } from '../servers/file/csv.ts'
import { quote } from '../text.ts'
import type { ListedKey } from './read-state.ts'

const REQUIRED = ['key_hash', 'name']
const OPTIONAL = [
  'external_id',
  'email',
  'prefix',
  'last_used_at',
  'created_at',
  'revoked_at',
  'id',
]
const COLUMNS = [...REQUIRED, ...OPTIONAL]

/** The delimiter that splits the first line into cells with all required names, or null. */
function delimiterOf(text: string): Delimiter | null {
  const [line = ''] = /^[^\r\n]*/.exec(text)!
  const splits = (delimiter: Delimiter) => {
    const rows = readCsv(line, delimiter)
    const names = Array.isArray(rows) ? namesOf(rows[0] ?? []) : []
    return REQUIRED.every((name) => names.includes(name))
  }
  return DELIMITERS.find(splits) ?? null
}

/**
 * Reads the rows of a CSV text as the fields of keys, one row after the other. An empty cell is as
 * if left out. Rows without a value are left out. Null if the text has no row of names that has the
 * required columns.
 */
export function readKeyTable(text: string): { keys: ListedKey[] } | { complaint: string } | null {
  const delimiter = delimiterOf(text)
  if (delimiter === null) return null
  const rows = csvRows(text, delimiter)
  const keys: ListedKey[] = []
  let columns: string[] | null = null
  for (let number = 1; ; number += 1) {
    const { done, value } = rows.next()
    if (done === true) return value ?? { keys }
    const { cells } = value
    if (columns === null) {
      columns = namesOf(cells)
      const unknown = columns.find((name) => !COLUMNS.includes(name))
      if (unknown !== undefined)
        return {
          complaint: `has a column ${quote(unknown)}. The columns are ${COLUMNS.join(', ')}`,
        }
    } else if (cells.length > columns.length) {
      return { complaint: `has more cells in row ${number} than in the first row` }
    } else if (cells.some((cell) => cell !== '')) {
      const fields = columns.map((name, at) => [name, cells[at] ?? ''])
      const json = Object.fromEntries(fields.filter(([, cell]) => cell !== ''))
      keys.push({ place: `row ${number}`, json })
    }
  }
}
