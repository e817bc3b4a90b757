import { createLog } from '../../src/log.ts'
import { openServingPostgresStore } from '../../src/postgres/store.ts'
import { startService } from '../../src/service.ts'

/*
 * The service as it is, but for the batches: each has one call. DATABASE_URL in the environment.
 */

const log = createLog('info')
const store = await openServingPostgresStore(process.env.DATABASE_URL!, {
  onFault: log.fault,
  batchMax: 1,
})
const { port } = await startService({
  store,
  host: '127.0.0.1',
  port: 0,
  log,
  dashboard: {
    port: 0,
    openAccounts: () => Promise.reject(new Error('the bench has no accounts')),
    baseUrl: 'http://127.0.0.1',
    dashboardUrl: 'http://127.0.0.1',
    signUp: 'closed',
    trustedProxies: [],
  },
})
log.info(`listening on http://127.0.0.1:${port}`)
