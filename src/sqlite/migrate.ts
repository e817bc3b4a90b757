import type { DatabaseSync } from 'node:sqlite'
import { presentInstant } from '../model/instant.ts'
import {
  assertKnown,
  type Ledger,
  type Migration,
  outdatedSchema,
  readMigrations,
} from '../database/migrations.ts'
import { tableNames, transact } from './database.ts'

/** The migrations of this program, in order. */
export const MIGRATIONS: readonly Migration[] = readMigrations(
  new URL('./migrations/', import.meta.url),
)

/**
 * Brings the schema to this program's newest migration and returns the names of the applied ones.
 * Each file is one transaction with its row in the ledger, so that the next run completes an
 * interrupted one. The write lock serializes concurrent runs. Throws NotConfigured and changes
 * nothing if this program can't work with the schema.
 */
export function migrate(
  database: DatabaseSync,
  migrations: readonly Migration[] = MIGRATIONS,
): string[] {
  const applied: string[] = []
  while (transact(database, () => applyNext(database, migrations, applied))) {}
  return applied
}

/** Whether there is nothing to migrate; only reads. Throws what `migrate` throws. */
export function isUpToDate(database: DatabaseSync): boolean {
  return readLedger(database, MIGRATIONS) >= MIGRATIONS.length
}

/** Throws NotConfigured if the schema lacks a migration of this program; only reads. */
export function assertUpToDate(database: DatabaseSync, path: string): void {
  const present = readLedger(database, MIGRATIONS)
  if (present < MIGRATIONS.length)
    throw outdatedSchema(`the database file ${path}`, present, MIGRATIONS.length)
}

/** Applies the first migration that the ledger lacks; false if there is none. */
function applyNext(
  database: DatabaseSync,
  migrations: readonly Migration[],
  applied: string[],
): boolean {
  const present = readLedger(database, migrations)
  const next = migrations[present]
  if (next === undefined) return false
  if (present === 0) {
    database.exec(`
      CREATE TABLE schema_migrations (
        number INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        program_min INTEGER NOT NULL,
        applied_at INTEGER NOT NULL
      ) STRICT
    `)
  }
  database.exec(next.sql)
  database
    .prepare('INSERT INTO schema_migrations VALUES (?, ?, ?, ?)')
    .run(next.number, next.name, next.programMin, presentInstant())
  applied.push(next.name)
  return true
}

/** The number of migrations that the database has. Throws what `migrate` throws. */
export function readLedger(database: DatabaseSync, migrations: readonly Migration[]): number {
  if (tableNames(database).length === 0) return 0
  const ledger = database
    .prepare(
      `SELECT max(number) AS number, max(program_min) AS program_min,
         (SELECT name FROM schema_migrations WHERE number = 1) AS first FROM schema_migrations`,
    )
    .get() as unknown as Ledger
  assertKnown(ledger, migrations)
  return ledger.number
}
