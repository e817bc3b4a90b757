import type { DatabaseSync } from 'node:sqlite'
import type { Store } from '../database/store.ts'
import { closeDatabase, COMMAND_LOCK_WAIT_MS, openFile } from './database.ts'
import { unusable } from './errors.ts'
import { openMirror } from './journal/mirror.ts'
import { AlreadyServed, isServed, takeServingLock } from './file/serving-lock.ts'
import { managementConnection } from './management-connection.ts'
import { assertUpToDate, isUpToDate, migrate } from './migrate.ts'

export interface SqliteOptions {
  /** Whether to create a missing file and migrate the schema. */
  create: boolean
  /** Gets problems that do not keep the command from its work: keys that are revoked again. */
  onFault?: (fault: Error) => void
}

/**
 * Opens the store for a command, also beside a serving process. Throws NotConfigured if the file
 * can't be used. Unless `create` is set, that includes a schema that needs a migration.
 */
export async function openSqliteStore(
  path: string,
  { create, onFault = () => {} }: SqliteOptions,
): Promise<Store> {
  const database = openFile(path, create)
  try {
    if (create) await bringUpToDate(database, path)
    else assertUpToDate(database, path)
    const mirror = await openMirror(database, path, onFault)
    const managing = managementConnection(database, { lockWaitMs: COMMAND_LOCK_WAIT_MS, mirror })
    return {
      database: managing,
      isServed: () => isServed(path),
      close: async () => closeDatabase(database),
    }
  } catch (error) {
    closeDatabase(database)
    throw unusable(path, error) ?? error
  }
}

/** Creates a missing file, migrates its schema and returns the names of the applied migrations. */
export async function migrateSqlite(path: string): Promise<string[]> {
  const database = openFile(path, true)
  try {
    return await bringUpToDate(database, path)
  } catch (error) {
    throw unusable(path, error) ?? error
  } finally {
    closeDatabase(database)
  }
}

/** Migrates if necessary, and never while another process serves the file. */
async function bringUpToDate(database: DatabaseSync, path: string): Promise<string[]> {
  if (isUpToDate(database)) return []
  try {
    const lock = await takeServingLock(path, COMMAND_LOCK_WAIT_MS)
    try {
      return migrate(database)
    } finally {
      lock.release()
    }
  } catch (error) {
    if (!(error instanceof AlreadyServed)) throw error
    throw new AlreadyServed(
      `the schema is older than this program, and ${error.message}. Stop the service, or wait for another migrate`,
    )
  }
}
