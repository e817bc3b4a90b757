import type { Dialect } from 'kysely'
import type { DatabaseConfig } from './database-url.ts'
import type { CopiedTable, OnProgress } from './listing/copy.ts'
import { NotConfigured } from './listing/faults.ts'
import type { ServingStore, Store } from './listing/store.ts'

// An engine is loaded when it is opened: nobody pays for the one that is not used.
const sqlite = () => import('./sqlite/store.ts')
const postgres = () => import('./postgres/store.ts')

/** A store for serving, with its database as the sign-in library asks it. */
export interface OpenedStore extends ServingStore {
  accountsDialect(): Promise<Dialect>
}

/** Opens the store for a command; `create` makes a database where there is none. Throws NotConfigured. */
export async function openStore(database: DatabaseConfig, { create = false } = {}): Promise<Store> {
  if (database.engine === 'postgres') return (await postgres()).openPostgresStore(database.url)
  return (await sqlite()).openSqliteStore(pathOf(database), { create })
}

/**
 * Opens the store for serving. Throws NotConfigured, and AlreadyServed where the engine allows one process only; an
 * engine that can wait for its database opens without it, and tells `onFault` why.
 */
export async function openServingStore(
  database: DatabaseConfig,
  onFault: (fault: unknown) => void,
): Promise<OpenedStore> {
  if (database.engine === 'postgres')
    return (await postgres()).openServingPostgresStore(database.url, { onFault })
  return (await sqlite()).openServingSqliteStore(pathOf(database))
}

/** Brings the schema up to date, and returns the names of the migrations that were applied. Throws NotConfigured. */
export async function migrateStore(database: DatabaseConfig): Promise<string[]> {
  if (database.engine === 'postgres') return (await postgres()).migratePostgres(database.url)
  return (await sqlite()).migrateSqlite(pathOf(database))
}

/**
 * Copies everything in an SQLite file into an empty PostgreSQL database, all or nothing. Throws NotConfigured, and
 * NotCopied where it cannot be done.
 */
export async function copyStore(
  path: string,
  url: string,
  onProgress: OnProgress,
): Promise<CopiedTable[]> {
  const { openSqliteSource } = await import('./sqlite/copy.ts')
  const { copyIntoPostgres } = await import('./postgres/copy.ts')
  const source = await openSqliteSource(path)
  try {
    return await copyIntoPostgres(source, url, onProgress)
  } finally {
    source.close()
  }
}

function pathOf(database: Exclude<DatabaseConfig, { engine: 'postgres' }>): string {
  if (database.engine === null) throw new NotConfigured(database.problem)
  return database.path
}
