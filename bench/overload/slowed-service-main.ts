import type { ServingStore } from '../../src/listing/store.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase as openPostgres, SERVING } from '../../src/postgres/database.ts'
import { openServingPostgresStore } from '../../src/postgres/store.ts'
import { createUseConnection } from '../../src/postgres/use-connection.ts'
import { createUseQueue as createPostgresQueue } from '../../src/postgres/use-queue.ts'
import { createOwnersByKey } from '../../src/postgres/uses.ts'
import { startService } from '../../src/service.ts'
import { systemClock } from '../../src/sqlite/clock.ts'
import { openDatabase } from '../../src/sqlite/database.ts'
import { openServingSqliteStore } from '../../src/sqlite/store.ts'
import { createUseQueue } from '../../src/sqlite/use-queue.ts'
import { createUses } from '../../src/sqlite/uses.ts'
import { slowedConnections, slowedUses } from './slowed.ts'

/*
 * The real service on a store that decides so many calls a second and no more. DATABASE_URL CLAIMS_PER_SECOND.
 */

const [url = '', claims = ''] = process.argv.slice(2)
const perSecond = Number(claims)

const log = createLog('info')
const service = await startService({
  store: await openStore(),
  host: '127.0.0.1',
  port: 0,
  log,
  dashboard: {
    port: 0,
    openAccounts: () => Promise.reject(new Error('there is nobody to sign in')),
    baseUrl: '',
    dashboardUrl: '',
    signUp: 'closed',
    trustedProxies: [],
  },
})
log.info(`listening on http://127.0.0.1:${service.port}`)

async function openStore(): Promise<ServingStore> {
  if (!url.startsWith('sqlite:')) return slowPostgres()
  const path = url.slice('sqlite:'.length)
  const store = await openServingSqliteStore(path)
  const claiming = openDatabase(path, { synchronous: 'NORMAL', lockWaitMs: 0 })
  const uses = createUses(claiming, 1, systemClock)
  return { ...store, useApiKey: createUseQueue(slowedUses(uses, perSecond)).useApiKey }
}

async function slowPostgres(): Promise<ServingStore> {
  const store = await openServingPostgresStore(url)
  const database = openPostgres(url, SERVING)
  const owners = createOwnersByKey()
  const connections = [1, 2].map(() => createUseConnection(database, owners, async () => {}))
  const { useApiKey } = createPostgresQueue(slowedConnections(connections, perSecond))
  return { ...store, useApiKey }
}
