import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { watchTurns } from './turn-watch.ts'
import { operatorAt } from '../../src/model/audit.ts'

/*
 * The service of a tree in a process of its own, with a watch on the turns of its event loop.
 * Arguments: TREE SERVERS. Sends its ports and keys to its parent. Each message of the parent ends
 * a measurement: the answer has the longest turn since the last message.
 */

/** Accounts that upload. */
const OWNERS = 6
const PASSWORD = 'correct horse battery staple'

const [tree = '.', servers = ''] = process.argv.slice(2)
const load = (path: string) => import(resolve(tree, 'src', path))
const { openServingStore } = await load('open-store.ts')
const { startService } = await load('service.ts')
const { createUser } = await load('accounts/user.ts')
const { issueApiKey } = await load('keys/records/issued-keys.ts')
const { createPasswords } = await load('accounts/sign-in/passwords.ts')

const folder = mkdtempSync(join(tmpdir(), 'server-listing-turns-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
process.once('disconnect', () => process.exit())

const store = await openServingStore({ engine: 'sqlite', path: join(folder, 'turns.db') }, report)
const hash = await createPasswords().hash(PASSWORD)
const owners = []
for (let number = 0; number < OWNERS; number += 1) owners.push(await addOwner(number))
await fill(owners[0]!.id, Number(servers))

const service = await startService({
  store,
  host: '127.0.0.1',
  port: 0,
  log: { fault: report, http() {} },
  dashboard: {
    port: 0,
    baseUrl: null,
    dashboardUrl: null,
    siteUrl: null,
    publicPages: false,
    signUp: 'closed',
    operators: [owners[0]!.email],
    version: '0',
    trustedProxies: [],
  },
})
const watch = watchTurns()
process.on('message', () => process.send!({ longestMs: watch.takeLongest() }))
const { port, dashboardPort } = service
process.send!({ port, dashboardPort, owners, password: PASSWORD })

async function addOwner(number: number) {
  const user = createUser(`owner-${number}@example.com`)
  await store.insertUserWithPassword(user, hash)
  const { key } = await issueApiKey(store, user.id, 'key', Date.now() * 1_000)
  return { id: user.id as string, email: user.email as string, key: key as string }
}

/** Registers servers as an operator's import does, which can exceed the dashboard's limit. */
async function fill(userId: string, count: number): Promise<void> {
  const entries = Array.from({ length: count }, (_, index) => ({
    name: `Server ${index} of an owner with many`,
    address: `s${index}.example.com:25565`,
    slug: `server-${index}`,
    version: '1.21.4',
    updated_at: 1_700_000_000_000_000 + index * 1_000_000,
  }))
  for (let start = 0; start < count; start += 5_000)
    await store.saveServers(
      userId,
      null,
      entries.slice(start, start + 5_000),
      operatorAt(Date.now() * 1_000),
    )
}

function report(fault: unknown): string {
  console.error(fault)
  return ''
}
