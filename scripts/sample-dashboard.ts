import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServingStore } from '../src/database/store.ts'
import { openServingStore } from '../src/open-store.ts'
import { startService } from '../src/service.ts'

/** The password of every user of a sample. */
export const PASSWORD = 'correct horse battery staple'

/**
 * Starts the service on a new SQLite file that the process deletes when it exits. `fill` adds what
 * the pages show.
 */
export async function startSample<T>(fill: (store: ServingStore) => Promise<T>) {
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-sample-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const database = { engine: 'sqlite', path: join(folder, 'listing.db') } as const
  const store = await openServingStore(database, onFault)
  const filled = await fill(store)
  const service = await startService({
    store,
    host: '127.0.0.1',
    port: 0,
    log: { fault: onFault, http() {} },
    dashboard: {
      port: 0,
      baseUrl: 'https://api.example.com',
      dashboardUrl: 'http://127.0.0.1:8081',
      siteUrl: 'https://listing.example.com',
      publicPages: true,
      signUp: 'open',
      trustedProxies: [],
    },
  })
  return { service, filled, folder, url: `http://127.0.0.1:${service.dashboardPort}` }
}

function onFault(fault: unknown): undefined {
  console.error(fault)
}
