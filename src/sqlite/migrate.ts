import type { DatabaseSync } from 'node:sqlite'
import { presentInstant } from '../model/instant.ts'
import { failedMigration, type Migration, outdatedSchema } from '../database/migrations.ts'
import { transact } from './database.ts'
import { isRefused } from './errors.ts'
import { MIGRATIONS, readLedger } from './schema.ts'

export { MIGRATIONS }

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
  try {
    database.exec(next.sql)
  } catch (error) {
    throw failedMigration(next, error as Error, isRefused(error))
  }
  database
    .prepare('INSERT INTO schema_migrations VALUES (?, ?, ?, ?)')
    .run(next.number, next.name, next.programMin, presentInstant())
  applied.push(next.name)
  return true
}
