import { namesOf } from '../servers/file/columns.ts'
import { DELIMITERS, type Delimiter, readCsv } from '../servers/file/csv.ts'
import { readValue } from '../servers/server-entry.ts'
import { quote } from '../model/text.ts'
import { fieldsOf } from './fields.ts'

/** The delimiter that splits the first line into names of which `name` is one, or null. */
function delimiterOf(text: string): Delimiter | null {
  const [line = ''] = /^[^\r\n]*/.exec(text)!
  const splits = (delimiter: Delimiter) => {
    const rows = readCsv(line, delimiter)
    const names = Array.isArray(rows) ? namesOf(rows[0] ?? []) : []
    return names.includes('name') && names.some((name) => name.startsWith('key_'))
  }
  return DELIMITERS.find(splits) ?? null
}

/** A key of a table, with its place there. */
export interface ListedKey {
  place: string
  json: unknown
}

/** The columns of a table of keys. */
const COLUMNS = [...fieldsOf('put_keys', 'operator').keys()]

/**
 * Reads the rows of a CSV text as the fields of keys. A cell without a value is as if left out. So
 * are rows without one. Null if the text has no row of names that can be those of keys.
 */
export function readKeyTable(text: string): { keys: ListedKey[] } | { complaint: string } | null {
  const delimiter = delimiterOf(text)
  if (delimiter === null) return null
  const rows = readCsv(text, delimiter)
  if (!Array.isArray(rows)) return rows
  const columns = namesOf(rows[0]!)
  const unknown = columns.find((name) => !COLUMNS.includes(name))
  if (unknown !== undefined)
    return {
      complaint: `has a column ${quote(unknown)}. The columns are ${COLUMNS.join(', ')}`,
    }
  const long = rows.findIndex((cells) => cells.length > columns.length)
  if (long !== -1) return { complaint: `has more cells in row ${long + 1} than in the first row` }
  const keys = rows.map((cells, at) => {
    const fields = columns.map((name, column) => [name, readValue(cells[column] ?? '')])
    const json = Object.fromEntries(fields.filter(([, value]) => value !== null))
    return { place: `row ${at + 1}`, json }
  })
  return { keys: keys.slice(1).filter(({ json }) => Object.keys(json).length > 0) }
}
