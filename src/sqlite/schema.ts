import type { DatabaseSync } from 'node:sqlite'
import {
  countMigrations,
  LEDGER,
  type LedgerRow,
  type Migration,
  readMigrations,
} from '../database/migrations.ts'

/** The migrations of this program, in order. */
export const MIGRATIONS: readonly Migration[] = readMigrations(
  new URL('./migrations/', import.meta.url),
)

/**
 * Why this program must not use a database, in words. Null for its own, and for one without
 * tables. Another program can make a file in UTF-16, where text has other bytes and another order.
 */
export function complaintAboutDatabase(database: DatabaseSync): string | null {
  const encoding = String(database.prepare('PRAGMA encoding').get()?.encoding)
  if (encoding !== 'UTF-8')
    return (
      `it has text in ${encoding}, and this program needs UTF-8. ` +
      '`sqlite3 OLD .dump | sqlite3 NEW` makes a file in UTF-8'
    )
  // Other programs have a table of this name, too, with other columns.
  const columns = database
    .prepare(
      `SELECT 1 FROM pragma_table_info('schema_migrations')
       WHERE name IN ('number', 'name', 'program_min')`,
    )
    .all()
  if (columns.length === 3 || tableNames(database).length === 0) return null
  return 'it belongs to another program: it has tables, but not ours. Name another file'
}

/**
 * The number of migrations that a database of this program has. Throws NotConfigured if a program
 * with these migrations can't work with its schema.
 */
export function readLedger(database: DatabaseSync, migrations: readonly Migration[]): number {
  if (tableNames(database).length === 0) return 0
  const rows: unknown[] = database.prepare(LEDGER).all()
  return countMigrations(rows as LedgerRow[], migrations)
}

/** Whether a newer program made the schema, with which this one can work. */
export function isNewer(database: DatabaseSync): boolean {
  return readLedger(database, MIGRATIONS) > MIGRATIONS.length
}

/** The tables of a database, without SQLite's own. */
export function tableNames(database: DatabaseSync): string[] {
  return database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
    .map(({ name }) => String(name))
}
