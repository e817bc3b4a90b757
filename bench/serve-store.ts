import type { ServingStore } from '../src/database/store.ts'
import type { Log } from '../src/log/log.ts'
import { startService } from '../src/service.ts'

/** Serves a store on a free port of 127.0.0.1, and prints the address. */
export async function serveStore(store: ServingStore, log: Log): Promise<void> {
  const service = await startService({
    store,
    host: '127.0.0.1',
    port: 0,
    log,
    dashboard: { port: 0, baseUrl: null, dashboardUrl: null, signUp: 'closed', trustedProxies: [] },
  })
  log.info(`listening on http://127.0.0.1:${service.port}`)
}
