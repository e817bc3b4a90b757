import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import closeWithGrace from 'close-with-grace'
import { createPasswords } from '../src/accounts/passwords.ts'
import { presentInstant } from '../src/listing/instant.ts'
import { issueApiKey } from '../src/listing/manage-api-keys.ts'
import { checkEntries } from '../src/listing/server-entry.ts'
import type { Store } from '../src/listing/store.ts'
import { createUser } from '../src/listing/user.ts'
import { createLog } from '../src/log.ts'
import { openAccounts } from '../src/open-accounts.ts'
import { openServingStore } from '../src/open-store.ts'
import { startService } from '../src/service.ts'

/*
 * The service on a throw-away database with one owner, their servers and a fresh key: `npm run demo`.
 */

const OWNER = 'ada@example.com'
const PORT = 8080
const DASHBOARD_PORT = 8081

const folder = mkdtempSync(join(tmpdir(), 'server-listing-demo-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const database = { engine: 'sqlite', path: join(folder, 'listing.db') } as const
const password = randomBytes(9).toString('base64url')
const log = createLog('warn')
const store = await openServingStore(database, log.fault)
const { key, servers } = await fill(store)
const service = await startOnFreePort()
const url = `http://127.0.0.1:${service.port}`
const dashboardUrl = `http://127.0.0.1:${service.dashboardPort}`

console.log(`
The service runs at ${url}, with ${servers} sample servers of ${OWNER}.
Ask for them; twice within a second is once too often:

  curl -i ${url}/v1/servers -H 'Authorization: Bearer ${key}'

The dashboard is at ${dashboardUrl}: sign in as ${OWNER} with the password ${password}

Ctrl-C ends it, and removes its database.
`)
closeWithGrace({ delay: 10_000, logger: false }, () => service.close())

async function fill(target: Store): Promise<{ key: string; servers: number }> {
  const user = createUser(OWNER)
  await target.insertUserWithPassword(user, await createPasswords().hash(password))
  const sample = readFileSync(new URL('./sample-servers.json', import.meta.url), 'utf8')
  const checked = checkEntries(JSON.parse(sample))
  if ('complaints' in checked) throw new Error(checked.complaints.join('\n'))
  await target.saveServers(user.id, null, checked.entries, presentInstant())
  const issued = await issueApiKey(target, user.id, 'demo', presentInstant())
  if ('refused' in issued) throw new Error(issued.refused)
  return { key: issued.key, servers: checked.entries.length }
}

/** The usual ports, or any others where one of them is taken. */
async function startOnFreePort() {
  try {
    return await start(PORT, DASHBOARD_PORT)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return start(0, 0)
  }
}

function start(port: number, dashboardPort: number) {
  const dashboardUrl = `http://127.0.0.1:${dashboardPort}`
  return startService({
    store,
    host: '127.0.0.1',
    port,
    log,
    dashboard: {
      port: dashboardPort,
      openAccounts: () => openAccounts(store, { database, authSecret: null, dashboardUrl }),
      baseUrl: `http://127.0.0.1:${port}`,
      dashboardUrl,
      signUp: 'open',
      trustedProxies: [],
    },
  })
}
