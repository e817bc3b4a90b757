import { createLog } from '../../src/log.ts'
import { startService } from '../../src/service.ts'
import { systemClock } from '../../src/sqlite/clock.ts'
import { openDatabase } from '../../src/sqlite/database.ts'
import { openServingSqliteStore } from '../../src/sqlite/store.ts'
import { writeUseCounts } from '../../src/sqlite/use-counts.ts'
import { createUseQueue } from '../../src/sqlite/use-queue.ts'
import { createUses } from '../../src/sqlite/uses.ts'
import { slowedUses } from './slowed.ts'

/*
 * The real service on a SQLite file, with an engine that decides so many calls a second and no more. PATH PER_SECOND.
 */

/** The row of `boots` that the store has made for this boot in a new file. */
const BOOT = 1

const [path = '', perSecond = ''] = process.argv.slice(2)

const log = createLog('info')
const store = await openServingSqliteStore(path)
const claiming = openDatabase(path, { synchronous: 'NORMAL', lockWaitMs: 0 })
const uses = slowedUses(createUses(claiming, BOOT, systemClock), Number(perSecond))
const { useApiKey } = createUseQueue(uses)
const service = await startService({
  // As in the store, what else is written while it serves goes over the connection that records uses.
  store: { ...store, ...writeUseCounts(claiming), useApiKey },
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
