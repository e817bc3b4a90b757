import type { DatabaseConfig } from './database-url.ts'
import type { CopiedTable, OnProgress } from './transfer/copy.ts'
import { type Manifest, NotRestored, type PreparedRestore } from './transfer/backup/backup.ts'
import { NotConfigured } from './listing/faults.ts'
import type { Finding } from './listing/health/finding.ts'
import type { ServingStore, Store } from './listing/store.ts'

// Loaded on demand: a process needs one engine, and a command decides no claims.
const sqlite = () => import('./sqlite/store.ts')
const servingSqlite = () => import('./sqlite/serving-store.ts')
const postgres = () => import('./postgres/store.ts')

/**
 * Opens the store for a command. `create` creates a missing database and migrates its schema; other
 * commands don't change a schema. Throws NotConfigured.
 */
export async function openStore(database: DatabaseConfig, { create = false } = {}): Promise<Store> {
  if (database.engine === 'postgres')
    return (await postgres()).openPostgresStore(database.url, { create })
  return (await sqlite()).openSqliteStore(pathOf(database), { create })
}

/**
 * Opens the store for serving. An engine that can wait for its database opens without it and
 * reports the fault to `onFault`. `onWarning` gets warnings for the operator. Throws NotConfigured.
 * Throws AlreadyServed if another process serves the database and the engine allows only one.
 */
export async function openServingStore(
  database: DatabaseConfig,
  onFault: (fault: unknown) => void,
  onWarning: (warning: string) => void = () => {},
): Promise<ServingStore> {
  if (database.engine === 'postgres')
    return (await postgres()).openServingPostgresStore(database.url, { onFault, onWarning })
  return (await servingSqlite()).openServingSqliteStore(pathOf(database), undefined, onFault)
}

/** Updates the schema and returns the names of the applied migrations. Throws NotConfigured. */
export async function migrateStore(database: DatabaseConfig): Promise<string[]> {
  if (database.engine === 'postgres') return (await postgres()).migratePostgres(database.url)
  return (await sqlite()).migrateSqlite(pathOf(database))
}

/**
 * Copies a whole SQLite file into an empty PostgreSQL database, all or nothing. Throws
 * NotConfigured or NotCopied.
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

/**
 * Backs the database up into a file, while it is served, and checks the file. Throws NotConfigured
 * or NotBackedUp.
 */
export async function backUpStore(
  database: DatabaseConfig,
  target: string,
  program: string,
): Promise<Manifest> {
  if (database.engine === 'postgres') {
    const { backUpPostgres } = await import('./postgres/backup/backup.ts')
    return backUpPostgres(database.url, target, program)
  }
  const { backUpSqlite } = await import('./sqlite/backup/backup.ts')
  return backUpSqlite(pathOf(database), target, program)
}

/**
 * Checks a backup and prepares to replace the database by it. `journals` are further journals of
 * revocations. Throws NotConfigured, NotRestored or AlreadyServed.
 */
export async function prepareRestore(
  database: DatabaseConfig,
  from: string,
  journals: readonly string[],
): Promise<PreparedRestore> {
  if (database.engine === 'postgres') {
    if (journals.length > 0)
      throw new NotRestored('a PostgreSQL database has no journal of revocations; leave it out')
    const restoring = await import('./postgres/backup/restore.ts')
    return restoring.prepareRestore(database.url, from)
  }
  const restoring = await import('./sqlite/backup/restore.ts')
  return restoring.prepareRestore(pathOf(database), from, journals)
}

/**
 * Looks at the database for `doctor`, also beside a serving process. Changes nothing, and reports
 * every failure as a finding.
 */
export async function inspectStore(
  database: Exclude<DatabaseConfig, { engine: null }>,
): Promise<Finding[]> {
  if (database.engine === 'postgres')
    return (await import('./postgres/inspect.ts')).inspectPostgres(database.url)
  return (await import('./sqlite/inspect.ts')).inspectSqlite(database.path)
}

function pathOf(database: Exclude<DatabaseConfig, { engine: 'postgres' }>): string {
  if (database.engine === null) throw new NotConfigured(database.problem)
  return database.path
}
