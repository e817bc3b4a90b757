import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { USE_INTERVAL } from '../listing/api-key.ts'
import { NotConfigured } from '../listing/faults.ts'
import type { ServingStore, Store } from '../listing/store.ts'
import { apiKeys } from './api-keys.ts'
import { type Clock, systemClock } from './clock.ts'
import { createDatabaseFile, openDatabase, unusable } from './database.ts'
import { migrate } from './migrate.ts'
import { servers } from './servers.ts'
import { takeServingLock } from './serving-lock.ts'
import { createUseQueue } from './use-queue.ts'
import { users } from './users.ts'
import { createUses } from './uses.ts'

/** A command may wait this long for another process's transaction; the service's own event loop must not. */
const COMMAND_LOCK_WAIT_MS = 10_000

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
    migrate(database)
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
): Promise<ServingStore> {
  const opened: (() => void)[] = []
  const closeOpened = () => {
    for (const close of opened.splice(0).toReversed()) close()
  }
  try {
    const database = openFile(path, true)
    opened.push(() => closeAll(database))
    // Before the schema is touched: a newer program must not migrate it under the older one that serves.
    opened.push(takeServingLock(path))
    migrate(database)
    const boot = await enterBoot(database, clock)
    database.exec('PRAGMA busy_timeout = 0')

    const claiming = openDatabase(path, { synchronous: 'NORMAL', lockWaitMs: 0 })
    opened.push(() => closeAll(claiming))
    const queue = createUseQueue(createUses(claiming, boot, clock))
    opened.push(queue.close)

    return { ...management(database), useApiKey: queue.useApiKey, close: async () => closeOpened() }
  } catch (error) {
    closeOpened()
    throw unusable(path, error) ?? error
  }
}

/** Makes the file where there is none, brings its schema up to date, and returns the names of what was applied. */
export async function migrateSqlite(path: string): Promise<string[]> {
  const database = openFile(path, true)
  try {
    return migrate(database)
  } catch (error) {
    throw unusable(path, error) ?? error
  } finally {
    closeAll(database)
  }
}

function openFile(path: string, create: boolean): DatabaseSync {
  if (!create && !existsSync(path))
    throw new NotConfigured(
      `there is no database file ${path}; \`server-listing serve\` or \`server-listing migrate\` makes it`,
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

function management(database: DatabaseSync): Omit<Store, 'close'> {
  return { ...users(database), ...apiKeys(database), ...servers(database) }
}

function closeAll(database: DatabaseSync): void {
  if (database.isOpen) database.close()
}
