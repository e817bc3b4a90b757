import type { DatabaseConfig } from './config/database-url.ts'
import type { BackedUp, PreparedRestore } from './archive/archive.ts'
import { NotConfigured } from './model/faults.ts'
import type { Finding } from './model/health/finding.ts'
import type { OpenInput } from './model/input.ts'
import type { Revocations } from './model/key-hash.ts'
import type { ServingStore, Store } from './database/store.ts'

// Loaded on demand: a process needs one engine, and a command decides no claims.
const sqlite = () => import('./sqlite/store.ts')
const servingSqlite = () => import('./sqlite/serving-store.ts')
const postgres = () => import('./postgres/store.ts')

interface OpenOptions {
  create?: boolean
  onFault?: (fault: Error) => void
}

/**
 * Opens the store for a command. `create` creates a missing database and migrates its schema; other
 * commands don't change a schema. `onFault` gets problems that the operator should know of. Throws
 * NotConfigured.
 */
export async function openStore(
  database: DatabaseConfig,
  { create = false, onFault = () => {} }: OpenOptions = {},
): Promise<Store> {
  if (database.engine === 'postgres')
    return (await postgres()).openPostgresStore(database.url, { create })
  return (await sqlite()).openSqliteStore(pathOf(database), { create, onFault })
}

/**
 * Opens the store for serving. An engine that can wait for its database opens without it and
 * reports the fault to `onFault`. `onFinding` gets what was found about the database. Throws
 * NotConfigured. Throws AlreadyServed if another process serves the database and the engine allows
 * only one.
 */
export async function openServingStore(
  database: DatabaseConfig,
  onFault: (fault: unknown) => void,
  onFinding: (finding: Finding) => void = () => {},
): Promise<ServingStore> {
  if (database.engine === 'postgres')
    return (await postgres()).openServingPostgresStore(database.url, { onFault, onFinding })
  return (await servingSqlite()).openServingSqliteStore(pathOf(database), undefined, onFault)
}

/** Updates the schema and returns the names of the applied migrations. Throws NotConfigured. */
export async function migrateStore(database: DatabaseConfig): Promise<string[]> {
  if (database.engine === 'postgres') return (await postgres()).migratePostgres(database.url)
  return (await sqlite()).migrateSqlite(pathOf(database))
}

/**
 * Writes an archive of the database, while it is served, and checks it. Throws NotConfigured or
 * NotBackedUp.
 */
export async function backUpStore(database: DatabaseConfig, target: string): Promise<BackedUp> {
  if (database.engine === 'postgres') {
    const { backUpPostgres } = await import('./archive/postgres-backup.ts')
    return backUpPostgres(database.url, target)
  }
  const { backUpSqlite } = await import('./archive/sqlite-backup.ts')
  return backUpSqlite(pathOf(database), target)
}

/**
 * Checks an archive and prepares to replace the database by it. `lists` names inputs with further
 * revocations. `onFault` gets problems that the operator should know of. Throws NotConfigured,
 * NotRestored or AlreadyServed.
 */
export async function prepareRestore(
  database: DatabaseConfig,
  from: string,
  lists: readonly string[],
  open: OpenInput,
  onFault: (fault: Error) => void,
): Promise<PreparedRestore> {
  const { openArchive } = await import('./archive/open.ts')
  const further = await readRevocations(lists, open)
  const opened = await openArchive(from)
  if (opened.isNewer)
    onFault(
      new Error(
        `${from} has the schema of a newer server-listing: what only that version knows is not restored`,
      ),
    )
  const archive = { ...opened, revocations: new Map([...further, ...opened.revocations]) }
  if (database.engine === 'postgres') {
    const { preparePostgresRestore } = await import('./archive/postgres-restore.ts')
    return preparePostgresRestore(database.url, archive)
  }
  const { prepareSqliteRestore } = await import('./archive/sqlite-restore.ts')
  return prepareSqliteRestore(pathOf(database), archive, onFault)
}

/** Reads journals and archives for the revoked keys. Throws NotRestored. */
export async function readRevocations(
  lists: readonly string[],
  open: OpenInput,
): Promise<Revocations> {
  const archive = await import('./archive/revocations.ts')
  return archive.readRevocations(lists, open)
}

/**
 * Looks at the database for `doctor`, also beside a serving process. Changes nothing, and reports
 * every failure as a finding.
 */
export async function inspectStore(
  database: Exclude<DatabaseConfig, { engine: null }>,
): Promise<Finding[]> {
  if (database.engine === 'postgres') {
    const { inspectPostgresRows } = await import('./archive/rules/postgres.ts')
    const { inspectPostgres } = await import('./postgres/inspect.ts')
    return inspectPostgres(database.url, inspectPostgresRows)
  }
  const { inspectRows } = await import('./archive/rules/judge.ts')
  return (await import('./sqlite/inspect.ts')).inspectSqlite(database.path, inspectRows)
}

function pathOf(database: Exclude<DatabaseConfig, { engine: 'postgres' }>): string {
  if (database.engine === null) throw new NotConfigured(database.problem)
  return database.path
}
