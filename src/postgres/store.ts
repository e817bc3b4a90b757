import type { PoolClient } from 'pg'
import { AuthenticationFault } from '../listing/faults.ts'
import type { ServingStore, Store } from '../listing/store.ts'
import { apiKeys } from './api-keys.ts'
import { type Database, openDatabase, unusable } from './database.ts'
import { migrate } from './migrate.ts'
import { servers } from './servers.ts'
import { createUseQueue } from './use-queue.ts'
import { users } from './users.ts'
import { type Call, createOwnersByKey, type Outcome, useTogether } from './uses.ts'

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
 * Opens the store for serving, in any number of processes. It opens where no server can be reached, too: what may
 * pass by itself is tried again with each request, and is an AuthenticationFault until then.
 */
export async function openServingPostgresStore(url: string): Promise<ServingStore> {
  const database = openDatabase(url)
  const session = createSession(database)
  await session.prepare().catch(() => {})
  const queue = createUseQueue((calls) => session.decide(calls))
  return {
    ...management(database),
    useApiKey: queue.useApiKey,
    async close() {
      await queue.close()
      session.close()
      await database.close()
    },
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

/** The connection that uses are decided on: kept while it works, made anew by the next batch after it failed. */
function createSession(database: Database) {
  let client: PoolClient | null = null
  let isSchemaRead = false
  const owners = createOwnersByKey()

  /** Reads, and if need be migrates, the schema, once. */
  async function prepare(): Promise<void> {
    if (isSchemaRead) return
    await migrate(database)
    isSchemaRead = true
  }

  async function decide(calls: readonly Call[]): Promise<Outcome[]> {
    try {
      await prepare()
      client ??= await connect()
    } catch (error) {
      // What has worked before will work again; only what never did can be a matter of configuration.
      const notConfigured = isSchemaRead ? null : unusable(error)
      throw (
        notConfigured ?? new AuthenticationFault('the database cannot be reached', { cause: error })
      )
    }
    return useTogether(client, owners, calls)
  }

  async function connect(): Promise<PoolClient> {
    const connected = await database.acquire()
    connected.once('error', () => discard(connected))
    connected.once('end', () => discard(connected))
    return connected
  }

  function discard(lost: PoolClient): void {
    if (client !== lost) return
    client = null
    lost.release(true)
  }

  return {
    prepare,
    decide,
    close() {
      client?.release()
      client = null
    },
  }
}
