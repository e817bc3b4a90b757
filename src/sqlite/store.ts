import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Dialect } from 'kysely'
import { USE_INTERVAL } from '../listing/api-key.ts'
import { NotConfigured } from '../listing/faults.ts'
import type { ServingStore, Store } from '../listing/store.ts'
import { type Clock, systemClock } from './clock.ts'
import { createDatabaseFile, openDatabase, unusable } from './database.ts'
import { management, patiently } from './management.ts'
import { isUpToDate, migrate } from './migrate.ts'
import { AlreadyServed, takeServingLock } from './serving-lock.ts'
import { readUseCounts, writeUseCounts } from './use-counts.ts'
import { createUseQueue } from './use-queue.ts'
import { createUses } from './uses.ts'

/** A command may wait this long for another process's transaction; the service's own event loop must not. */
const COMMAND_LOCK_WAIT_MS = 10_000
/** A service that starts may find the file in the hands of a command that migrates it. */
const SERVICE_LOCK_WAIT_MS = 1_000

/** Loaded by the first sign-in: it is large. */
const dialect = () => import('./accounts-dialect.ts')

export interface ServingSqliteStore extends ServingStore {
  /** The database as the sign-in library asks it. */
  accountsDialect(): Promise<Dialect>
}

export interface SqliteOptions {
  /** Whether to make the file where there is none. */
  create: boolean
}

/**
 * Opens the store for a command, beside a serving process or without one, and brings its schema up to date.
 * Throws NotConfigured where there is no database of ours that could be used.
 */
export async function openSqliteStore(path: string, { create }: SqliteOptions): Promise<Store> {
  const database = openFile(path, create)
  try {
    await bringUpToDate(database, path)
    return { ...management(database), close: async () => closeAll(database) }
  } catch (error) {
    closeAll(database)
    throw unusable(path, error) ?? error
  }
}

/**
 * Opens the store for the one process that serves the file. Throws AlreadyServed if there is one, NotConfigured
 * where there is no database of ours that could be used.
 */
export async function openServingSqliteStore(
  path: string,
  clock: Clock = systemClock,
): Promise<ServingSqliteStore> {
  const opened: (() => void)[] = []
  const closeOpened = () => {
    for (const close of opened.splice(0).toReversed()) close()
  }
  try {
    const database = openFile(path, true)
    opened.push(() => closeAll(database))
    if (statSync(path).nlink > 1)
      throw new NotConfigured(
        `cannot use the database file ${path}: it has a second name (a hard link), by which another process could serve it`,
      )
    // Before the schema is touched: a newer program must not migrate it under the older one that serves.
    opened.push(await takeServingLock(path, SERVICE_LOCK_WAIT_MS))
    migrate(database)
    const boot = await enterBoot(database, clock)

    const claiming = openDatabase(path, {
      synchronous: 'NORMAL',
      lockWaitMs: COMMAND_LOCK_WAIT_MS,
    })
    opened.push(() => closeAll(claiming))
    const queue = createUseQueue(createUses(claiming, boot, clock))
    opened.push(queue.close)
    // From now on a wait would be one of every request.
    for (const connection of [database, claiming]) connection.exec('PRAGMA busy_timeout = 0')

    return {
      ...patiently(database, { ...management(database), ...readUseCounts(database) }),
      ...patiently(claiming, writeUseCounts(claiming)),
      useApiKey: queue.useApiKey,
      accountsDialect: async () => (await dialect()).accountsDialect(database),
      close: async () => closeOpened(),
    }
  } catch (error) {
    closeOpened()
    throw unusable(path, error) ?? error
  }
}

/** Makes the file where there is none, brings its schema up to date, and returns the names of what was applied. */
export async function migrateSqlite(path: string): Promise<string[]> {
  const database = openFile(path, true)
  try {
    return await bringUpToDate(database, path)
  } catch (error) {
    throw unusable(path, error) ?? error
  } finally {
    closeAll(database)
  }
}

/** Migrates where there is something to migrate, and never under a process that serves the file. */
async function bringUpToDate(database: DatabaseSync, path: string): Promise<string[]> {
  if (isUpToDate(database)) return []
  try {
    const release = await takeServingLock(path, COMMAND_LOCK_WAIT_MS)
    try {
      return migrate(database)
    } finally {
      release()
    }
  } catch (error) {
    if (!(error instanceof AlreadyServed)) throw error
    throw new AlreadyServed(`the schema is older than this program, and ${error.message}`)
  }
}

function openFile(path: string, create: boolean): DatabaseSync {
  if (!create && !existsSync(path))
    throw new NotConfigured(
      `there is no database file ${path}; \`server-listing serve\` or \`server-listing migrate\` makes it`,
    )
  if (existsSync(path) && !statSync(path).isFile())
    throw new NotConfigured(
      `cannot use the database file ${path}: it is a folder, or no file at all`,
    )
  try {
    if (create) createDatabaseFile(path)
    return openDatabase(path, { synchronous: 'FULL', lockWaitMs: COMMAND_LOCK_WAIT_MS })
  } catch (error) {
    throw unusable(path, error) ?? error
  }
}

/** The number of this boot of the machine, which monotonic stamps are kept with. */
async function enterBoot(database: DatabaseSync, clock: Clock): Promise<number> {
  // Where the system names no boot, stamps of an earlier process mean nothing: let the second pass that they cover.
  if (clock.bootId === null) await delay(USE_INTERVAL / 1000)
  const bootId = clock.bootId ?? randomUUID()
  database.prepare('INSERT INTO boots (boot_id) VALUES (?) ON CONFLICT DO NOTHING').run(bootId)
  return Number(database.prepare('SELECT number FROM boots WHERE boot_id = ?').get(bootId)?.number)
}

function closeAll(database: DatabaseSync): void {
  if (database.isOpen) database.close()
}
