import { createClaimQueue } from '../claims/queue.ts'
import { NotConfigured } from '../model/faults.ts'
import type { Finding } from '../model/health/finding.ts'
import { OLD_SCHEMA } from '../model/health/health.ts'
import type { ServingStore, Store } from '../database/store.ts'
import { inspectCreators } from './creators.ts'
import { type Database, openDatabase } from './database.ts'
import { assertNoForeignRights } from './grants.ts'
import { managementConnection } from './management-connection.ts'
import { assertUpToDate, isUpToDate, migrate } from './migrate.ts'
import { createKnownKeys } from './claims/known-keys.ts'
import { COMMAND, ENDLESS, MANAGING, SERVING } from './patience.ts'
import { unreachableServer, unusable } from './refusals.ts'
import { createClaimConnection, POSTGRES_QUEUE, unreachable } from './claims/claim-connection.ts'
import { inspectStandbys } from './standbys.ts'
import { findLastBackup } from '../database/last-backup.ts'

/** Connections that decide claims: while one waits for the disk, the other one works. */
const CLAIM_CONNECTIONS = 2

export interface ServingOptions {
  /** Gets the errors that keep the store from working when it is opened. */
  onFault?: (fault: unknown) => void
  /** Gets what was found about the server, when the database is reached for the first time. */
  onFinding?: (finding: Finding) => void
  /** The maximum of calls in one statement. */
  batchMax?: number
}

/**
 * Opens the store for a command. Throws NotConfigured if the database can't be used. Unless
 * `create` is set, that includes a schema that needs a migration.
 */
export async function openPostgresStore(
  url: string,
  { create }: { create: boolean },
): Promise<Store> {
  const database = openDatabase(url, COMMAND)
  try {
    await (create ? prepareSchema(database, url) : assertReady(database))
    return { ...managed(database), close: database.close }
  } catch (error) {
    await database.close()
    throw unreachableServer(error) ?? error
  }
}

/**
 * Opens the store for serving, in any number of processes. It also opens if no server is reachable:
 * each request tries again. Until then requests fail with AuthenticationFault, or with
 * NotConfigured for a lasting failure. `onFault` gets the failure at once.
 */
export async function openServingPostgresStore(
  url: string,
  {
    onFault = () => {},
    onFinding = () => {},
    batchMax = POSTGRES_QUEUE.batchMax,
  }: ServingOptions = {},
): Promise<ServingStore> {
  const database = openDatabase(url, SERVING)
  const prepare = once(async () => {
    await prepareSchema(database, url)
    // Before the first request, because the user may have no connection to spare. A failure must
    // not stop the service.
    await inspectServer(database, onFinding).catch(onFault)
  })
  await prepare().catch(onFault)
  const keys = createKnownKeys()
  const connections = Array.from({ length: CLAIM_CONNECTIONS }, () =>
    createClaimConnection(database, keys, prepare),
  )
  const queue = createClaimQueue(connections, { ...POSTGRES_QUEUE, batchMax })
  // The dashboard has its own connections, which are opened on demand, and nothing of it reaches a
  // schema that this program can't work with.
  const pages = openDatabase(url, MANAGING, prepare)
  const store = managed(pages)
  return {
    ...store,
    counting: store.database,
    prepare,
    claim: queue.claim,
    probeClaims: queue.probe,

    readCounts: () => ({
      claims: queue.counts,
      pools: { claims: database.connections(), pages: pages.connections() },
    }),

    async measure() {
      const [size] = await pages.query<{ bytes: string }>(
        'SELECT pg_database_size(current_database()) AS bytes',
      )
      return {
        databaseBytes: Number(size!.bytes),
        logBytes: null,
        diskFreeBytes: null,
        lastBackupAt: await findLastBackup(store.database),
      }
    },

    async checkSchema() {
      await prepare()
      const isUsable = await isUpToDate(database).catch((error: unknown) => {
        throw unusable(error) ?? unreachable(error)
      })
      if (!isUsable) throw new NotConfigured(OLD_SCHEMA)
    },

    async close() {
      await queue.close()
      await pages.close()
      await database.close()
    },
  }
}

async function inspectServer(
  database: Database,
  onFinding: (finding: Finding) => void,
): Promise<void> {
  for (const inspect of [inspectStandbys, inspectCreators]) onFinding(await inspect(database))
}

/**
 * Runs the work once, and again with the next call if it failed. Throws NotConfigured or
 * AuthenticationFault.
 */
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

/** Waits long only for a migration, not for a server that does not answer. */
async function prepareSchema(database: Database, url: string): Promise<void> {
  const isReady = await isUpToDate(database).catch((error: unknown) => {
    throw unusable(error) ?? error
  })
  if (!isReady) await migrateSchema(url)
  await database.lend(assertNoForeignRights)
}

async function assertReady(database: Database): Promise<void> {
  await assertUpToDate(database).catch((error: unknown) => {
    throw unusable(error) ?? error
  })
}

/** Migrates the schema and returns the names of the applied migrations. */
export async function migratePostgres(url: string): Promise<string[]> {
  return migrateSchema(url).catch((error: unknown) => {
    throw unreachableServer(error) ?? error
  })
}

async function migrateSchema(url: string): Promise<string[]> {
  const database = openDatabase(url, ENDLESS)
  try {
    return await migrate(database)
  } catch (error) {
    throw unusable(error) ?? error
  } finally {
    await database.close()
  }
}

function managed(database: Database): Omit<Store, 'close'> {
  return {
    database: managementConnection(database),
    // Processes that serve a database do not announce themselves.
    isServed: () => true,
  }
}
