import type { DatabaseConfig } from './config.ts'
import { NotConfigured } from './listing/faults.ts'
import type { ServingStore, Store } from './listing/store.ts'
import { migrateSqlite, openServingSqliteStore, openSqliteStore } from './sqlite/store.ts'

/** Opens the store for a command; `create` makes a database where there is none. Throws NotConfigured. */
export async function openStore(database: DatabaseConfig, { create = false } = {}): Promise<Store> {
  return openSqliteStore(pathOf(database), { create })
}

/** Opens the store for serving. Throws NotConfigured, and AlreadyServed where the engine allows one process only. */
export async function openServingStore(database: DatabaseConfig): Promise<ServingStore> {
  return openServingSqliteStore(pathOf(database))
}

/** Brings the schema up to date, and returns the names of the migrations that were applied. Throws NotConfigured. */
export async function migrateStore(database: DatabaseConfig): Promise<string[]> {
  return migrateSqlite(pathOf(database))
}

function pathOf(database: DatabaseConfig): string {
  if (database.engine === null) throw new NotConfigured(database.problem)
  return database.path
}
