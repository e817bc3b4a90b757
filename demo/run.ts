import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import closeWithGrace from 'close-with-grace'
import { presentInstant } from '../src/model/instant.ts'
import { issueApiKey } from '../src/keys/records/issued-keys.ts'
import { readServers } from '../src/servers/file/server-file.ts'
import type { Store } from '../src/database/store.ts'
import { createUser } from '../src/accounts/user.ts'
import { createLog } from '../src/log/log.ts'
import { openServingStore } from '../src/open-store.ts'
import { startService } from '../src/service.ts'
import { createPasswords } from '../src/accounts/sign-in/passwords.ts'
import { passwords } from '../src/accounts/records/passwords.ts'
import { serverImports } from '../src/servers/records/server-imports.ts'
import { operatorAt } from '../src/model/audit.ts'

/* `npm run demo`: the service on a throwaway database with one owner, sample servers and a key. */

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

// Before the text below: a supervisor may wait for it and then send a signal.
closeWithGrace({ delay: 10_000, logger: false }, () => service.close())
console.log(`
The service runs at ${url} with ${servers} sample servers of ${OWNER}.
List them (a second request within one second gets 429):

  echo 'Authorization: Bearer ${key}' | curl -i --header @- ${url}/v1/servers

The dashboard runs at ${dashboardUrl}. Sign in as ${OWNER} with the password ${password}

Press Ctrl-C to stop the service and delete its database.
`)

async function fill(target: Store): Promise<{ key: string; servers: number }> {
  const user = createUser(OWNER)
  await passwords(target.database).insertUserWithPassword(
    user,
    await createPasswords().hash(password),
    'sign-up',
    operatorAt(presentInstant()),
  )
  const sample = readFileSync(new URL('./sample-servers.json', import.meta.url), 'utf8')
  const checked = await readServers(sample)
  if ('complaint' in checked) throw new Error(checked.complaint)
  await serverImports(target.database).saveServers(
    user.id,
    null,
    checked.entries,
    operatorAt(presentInstant()),
  )
  const issued = await issueApiKey(target.database, user.id, 'demo', operatorAt(presentInstant()))
  if ('refused' in issued) throw new Error(issued.refused)
  return { key: issued.key, servers: checked.entries.length }
}

/** Uses the default ports, or free ones if one of them is taken. */
async function startOnFreePort() {
  try {
    return await start(PORT, DASHBOARD_PORT)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return start(0, 0)
  }
}

function start(port: number, dashboardPort: number) {
  return startService({
    store,
    host: '127.0.0.1',
    port,
    log,
    dashboard: {
      port: dashboardPort,
      baseUrl: null,
      dashboardUrl: null,
      signUp: 'open',
      trustedProxies: [],
    },
  })
}
