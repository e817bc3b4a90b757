import type { ServingStore, Store } from '../listing/store.ts'
import { apiKeys } from './api-keys.ts'
import { type Database, openDatabase, unusable } from './database.ts'
import { migrate } from './migrate.ts'
import { servers } from './servers.ts'
import { createUseConnection, unreachable } from './use-connection.ts'
import { createUseQueue } from './use-queue.ts'
import { users } from './users.ts'
import { createOwnersByKey } from './uses.ts'

/** Connections that uses are decided on: while one waits for the disk, the other works. */
const USE_CONNECTIONS = 2

export interface ServingOptions {
  /** Told of what keeps the store from working when it is opened. */
  onFault?: (fault: unknown) => void
  /** Calls decided in one statement at most. */
  batchMax?: number
}

/**
 * Opens the store for a command, and brings its schema up to date. Throws NotConfigured where there is no database
 * that could be used.
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const database = openDatabase(url)
  try {
    await migrate(database)
    return { ...management(database), close: database.close }
  } catch (error) {
    await database.close()
    throw unusable(error) ?? error
  }
}

/**
 * Opens the store for serving, in any number of processes. It opens where no server can be reached, too: each request
 * tries again, and until then is an AuthenticationFault, or NotConfigured if it cannot pass by itself. `onFault` is
 * told of it at once.
 */
export async function openServingPostgresStore(
  url: string,
  { onFault = () => {}, batchMax }: ServingOptions = {},
): Promise<ServingStore> {
  const database = openDatabase(url)
  const prepare = once(() => migrate(database))
  await prepare().catch(onFault)
  const owners = createOwnersByKey()
  const connections = Array.from({ length: USE_CONNECTIONS }, () =>
    createUseConnection(database, owners, prepare),
  )
  const queue = createUseQueue(connections, batchMax)
  return {
    ...management(database),
    useApiKey: queue.useApiKey,
    async close() {
      await queue.close()
      await database.close()
    },
  }
}

/**
 * Reads the schema, and brings it up to date if need be: once, and until that has succeeded again with each call.
 * Only what has never worked can be a matter of configuration.
 */
function once(migrating: () => Promise<unknown>): () => Promise<void> {
  let preparation: Promise<void> | null = null
  return () => {
    preparation ??= migrating().then(
      () => {},
      (error: unknown) => {
        preparation = null
        throw unusable(error) ?? unreachable(error)
      },
    )
    return preparation
  }
}

/** Brings the schema up to date, and returns the names of what was applied. */
export async function migratePostgres(url: string): Promise<string[]> {
  const database = openDatabase(url)
  try {
    return await migrate(database)
  } catch (error) {
    throw unusable(error) ?? error
  } finally {
    await database.close()
  }
}

function management(database: Database): Omit<Store, 'close'> {
  return { ...users(database), ...apiKeys(database), ...servers(database) }
}
