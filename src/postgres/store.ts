import type { Dialect } from 'kysely'
import { NotConfigured } from '../listing/faults.ts'
import type { ServingStore, Store } from '../listing/store.ts'
import { accounts } from './accounts.ts'
import { apiKeys } from './api-keys.ts'
import {
  COMMAND,
  type Database,
  ENDLESS,
  MANAGING,
  openDatabase,
  SERVING,
  unusable,
} from './database.ts'
import { invitations } from './invitations.ts'
import { isUpToDate, migrate } from './migrate.ts'
import { organizations } from './organizations.ts'
import { registeredServers } from './registered-servers.ts'
import { servers } from './servers.ts'
import { signInAttempts } from './sign-in-attempts.ts'
import { createUseConnection, unreachable } from './use-connection.ts'
import { useCounts } from './use-counts.ts'
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

/** Loaded by the first sign-in: it is large. */
const dialect = () => import('./accounts-dialect.ts')

export interface ServingPostgresStore extends ServingStore {
  /** The database as the sign-in library asks it. */
  accountsDialect(): Promise<Dialect>
}

/**
 * Opens the store for a command, and brings its schema up to date. Throws NotConfigured where there is no database
 * that could be used.
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const database = openDatabase(url, COMMAND)
  try {
    await prepareSchema(database, url)
    return { ...management(database), close: database.close }
  } catch (error) {
    await database.close()
    throw error
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
): Promise<ServingPostgresStore> {
  const database = openDatabase(url, SERVING)
  const prepare = once(() => prepareSchema(database, url))
  await prepare().catch(onFault)
  const owners = createOwnersByKey()
  const connections = Array.from({ length: USE_CONNECTIONS }, () =>
    createUseConnection(database, owners, prepare),
  )
  const queue = createUseQueue(connections, batchMax)
  // On connections of its own, however many people use the dashboard; they are made when somebody does.
  const managed = openDatabase(url, MANAGING)
  return {
    ...management(managed),
    ...useCounts(managed),
    accountsDialect: async () => (await dialect()).accountsDialect(managed),
    useApiKey: queue.useApiKey,
    async close() {
      await queue.close()
      await managed.close()
      await database.close()
    },
  }
}

/** Does the work once; where that fails, again with the next call. Throws NotConfigured or AuthenticationFault. */
function once(work: () => Promise<void>): () => Promise<void> {
  let preparation: Promise<void> | null = null
  return () => {
    preparation ??= work().catch((error: unknown) => {
      preparation = null
      throw error instanceof NotConfigured ? error : unreachable(error)
    })
    return preparation
  }
}

/** Waits long only where there is something to migrate, not for a server that is not heard of. */
async function prepareSchema(database: Database, url: string): Promise<void> {
  const isReady = await isUpToDate(database).catch((error: unknown) => {
    throw unusable(error) ?? error
  })
  if (!isReady) await migratePostgres(url)
}

/** Brings the schema up to date, and returns the names of what was applied. */
export async function migratePostgres(url: string): Promise<string[]> {
  const database = openDatabase(url, ENDLESS)
  try {
    return await migrate(database)
  } catch (error) {
    throw unusable(error) ?? error
  } finally {
    await database.close()
  }
}

function management(database: Database): Omit<Store, 'close'> {
  return {
    ...users(database),
    ...apiKeys(database),
    ...servers(database),
    ...accounts(database),
    ...signInAttempts(database),
    ...organizations(database),
    ...invitations(database),
    ...registeredServers(database),
  }
}
