import type { DatabaseSync } from 'node:sqlite'
import type { CopySource } from '../transfer/copy.ts'
import { tableNames } from './database.ts'

/**
 * Tables that only matter in this file. The view `api_key_uses` has each key's last use. Sessions
 * are not copied: users sign in again. Neither is what users can still undo or confirm. A backup of
 * this file is no backup of the other database.
 */
const OWN_TABLES = new Set([
  'schema_migrations',
  'boots',
  'uses',
  'last_uses',
  'older_uses',
  'secrets',
  'sessions',
  'sign_in_links',
  'sign_in_attempts',
  'server_changes',
  'checked_imports',
  'last_backup',
])
const OWN_COLUMNS = new Set(['api_keys.serial'])

/** Columns that are read from another table, by the name of their own. */
const COLUMNS_ELSEWHERE: Record<string, { join: string; columns: string[] }> = {
  api_keys: {
    join: 'JOIN api_key_uses ON api_key_uses.api_key_id = api_keys.id',
    columns: ['api_key_uses.last_used_at'],
  },
}

/** The tables to copy and their columns. */
export function readTables(database: DatabaseSync): CopySource['tables'] {
  const names = tableNames(database).filter((name) => !OWN_TABLES.has(name))
  const columnsOf = database.prepare('SELECT name FROM pragma_table_info(?)')
  return inOrder(database, names).map((name) => {
    const columns = columnsOf.all(name).map((column) => String(column.name))
    const own = columns.filter((column) => !OWN_COLUMNS.has(`${name}.${column}`))
    const elsewhere = COLUMNS_ELSEWHERE[name]?.columns ?? []
    return { name, columns: [...own, ...elsewhere.map((column) => column.split('.')[1] ?? '')] }
  })
}

/** The tables, each after those that it refers to. */
function inOrder(database: DatabaseSync, names: readonly string[]): string[] {
  const referred = database.prepare('SELECT "table" AS name FROM pragma_foreign_key_list(?)')
  const ordered = new Set<string>()
  const visit = (name: string, trail: readonly string[]) => {
    if (trail.includes(name)) throw new Error(`tables refer in a circle: ${trail.join(', ')}`)
    for (const other of referred.all(name)) {
      const next = String(other.name)
      if (next !== name && names.includes(next)) visit(next, [...trail, name])
    }
    ordered.add(name)
  }
  for (const name of names) visit(name, [])
  return [...ordered]
}

/** SQL for a column. */
export function placeOf(table: string, column: string): string {
  const elsewhere = COLUMNS_ELSEWHERE[table]?.columns ?? []
  return elsewhere.find((place) => place.endsWith(`.${column}`)) ?? `"${table}"."${column}"`
}

/** SQL for a table with the other tables that its columns are read from. */
export function fromOf(table: string): string {
  return `"${table}" ${COLUMNS_ELSEWHERE[table]?.join ?? ''}`
}
