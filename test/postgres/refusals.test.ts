import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AuthenticationFault, NotConfigured } from '../../src/model/faults.ts'
import { openDatabase } from '../../src/postgres/database.ts'
import { SERVING } from '../../src/postgres/patience.ts'
import { isRefusedEverywhere, unusable } from '../../src/postgres/refusals.ts'
import { openPostgresStore, openServingPostgresStore } from '../../src/postgres/store.ts'
import { commandsIn } from '../cli/command.ts'
import { eventually } from '../fixtures/eventually.ts'
import { freePort } from '../fixtures/free-port.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { addOwner } from '../fixtures/service.ts'
import { openStore, outcomeOf } from './claims/outcomes.ts'

/*
 * Sessions that a server or the driver refuses until an operator fixes something: "not configured",
 * with a sentence.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const admin = (url: string, sql: string) => asAdmin(url, (client) => client.query(sql))
const withOption = (url: string, option: string) =>
  `${url}?options=${encodeURIComponent(`-c ${option}`)}`
const nameIn = (url: string) => new URL(url).pathname.slice(1)

async function createEncoded(encoding: string): Promise<string> {
  const url = await createDatabase(server)
  await admin(
    server.url(),
    `CREATE DATABASE ${nameIn(url)}_${encoding} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`,
  )
  return `${url}_${encoding}`.toLowerCase()
}

const CASES: [name: string, open: () => Promise<string>, sentence: RegExp][] = [
  ['the encoding SQL_ASCII', () => createEncoded('SQL_ASCII'), /is SQL_ASCII, .*ENCODING 'UTF8'/],
  ['the encoding LATIN1', () => createEncoded('LATIN1'), /is LATIN1, .*ENCODING 'UTF8'/],
  [
    'a search_path without a schema that exists',
    async () => withOption(await createDatabase(server), 'search_path=nowhere'),
    /no schema in the search_path exists/,
  ],
  ...['nonsense=1', 'work_mem=much', 'max_connections=5'].map((option): (typeof CASES)[number] => [
    `the option ${option}`,
    async () => withOption(await createDatabase(server), option),
    new RegExp(`refuses its options: .*"${option.split('=')[0]}"`),
  ]),
  [
    'a session whose triggers do not fire',
    async () => withOption(await createDatabase(server), 'session_replication_role=replica'),
    /session_replication_role is replica, .*RESET/,
  ],
  [
    'no password where the server asks for one',
    async () => (await createDatabase(server)).replace(':secret', ''),
    /asks for a password/,
  ],
  [
    'TLS asked of a server without it',
    async () => `${await createDatabase(server)}?sslmode=require`,
    /does not support SSL \(TLS\), which sslmode asks for/,
  ],
]

for (const [name, open, sentence] of CASES)
  test(`${name} is not configured, and the sentence says what to fix`, async (t) => {
    const url = await open()
    await assert.rejects(
      openPostgresStore(url, { create: true }),
      (error) => error instanceof NotConfigured && sentence.test(error.message),
    )
    assert.equal(await outcomeOf(await openStore(t, url), 'svc_live_x'), 'NotConfigured')
  })

test('a connection that has no password to send is closed at once', async () => {
  const url = (await createDatabase(server)).replace(':secret', '')
  await assert.rejects(openPostgresStore(url, { create: true }), NotConfigured)
  // The server itself would close it after a minute.
  await eventually(async () => !process.getActiveResourcesInfo().includes('TCPSocketWrap'))
})

test('a refusal after the start is not configured until it is fixed', async (t) => {
  const url = await createDatabase(server)
  const role = `late_${nameIn(url)}`
  await admin(url, `CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'secret'`)
  const store = await openStore(t, url.replace('postgres:secret', `${role}:secret`))
  const { key } = await addOwner(store, 'ada@example.com')
  const change = async (change: string) => {
    await admin(url, `ALTER ROLE ${role} ${change}`)
    await admin(
      url,
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${role}'`,
    )
  }
  const becomes = async (wanted: string) =>
    eventually(async () => (await outcomeOf(store, key)) === wanted)
  await change(`PASSWORD 'other'`)
  await becomes('NotConfigured')
  await change(`PASSWORD 'secret'`)
  await becomes('granted')
  await change('SET search_path = nowhere')
  await becomes('NotConfigured')
  await change('RESET search_path')
  await becomes('granted')
})

test("the check of the schema tells another program's ledger from one that is locked", async (t) => {
  const url = await createDatabase(server)
  const store = await openStore(t, url)
  await asAdmin(url, async (client) => {
    await client.query('BEGIN; LOCK TABLE schema_migrations')
    await assert.rejects(store.checkSchema(), AuthenticationFault)
    await client.query('ROLLBACK; ALTER TABLE schema_migrations RENAME COLUMN number TO elsewhere')
    await assert.rejects(
      store.checkSchema(),
      (fault) => fault instanceof NotConfigured && /another program/.test(fault.message),
    )
    await client.query('ALTER TABLE schema_migrations RENAME COLUMN elsewhere TO number')
  })
  await store.checkSchema()
})

test('a bad certificate is a lasting refusal by one host; other failures may pass', async () => {
  for (const code of ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'INVALID_CA']) {
    const error = Object.assign(new Error('no good'), { code })
    assert.match(unusable(error)?.message ?? '', /certificate is not accepted: no good(\. Add|$)/)
    assert.equal(isRefusedEverywhere(error), false)
  }
  for (const code of ['CERT_NOT_YET_VALID', 'ECONNREFUSED', '42704', '22023'])
    assert.equal(unusable(Object.assign(new Error('no good'), { code })), null)
})

test('a host that may return outweighs one that refuses TLS', async (t) => {
  const url = await createDatabase(server)
  const port = await freePort()
  for (const hosts of [`127.0.0.1:${port},$&`, `$&,127.0.0.1:${port}`]) {
    const database = openDatabase(
      `${url.replace(/127\.0\.0\.1:\d+/, hosts)}?sslmode=require`,
      SERVING,
    )
    t.after(database.close)
    for (const _ of [1, 2])
      await assert.rejects(database.query('SELECT 1'), { code: 'ECONNREFUSED', port })
  }
})

for (const [limit, set, sentence] of [
  [
    'the connections of a database',
    'DATABASE $d CONNECTION LIMIT 0',
    /too many connections for database/,
  ],
  ['the connections of a role', 'ROLE $r CONNECTION LIMIT 0', /too many connections for role/],
  ['the time of a statement', 'ROLE $r SET statement_timeout = 1', /statement_timeout .* RESET/],
] as const)
  test(`a limit of ${limit} gets a sentence, and may pass`, async (t) => {
    const url = await createDatabase(server)
    const [name, role] = [nameIn(url), `limited_${nameIn(url)}`]
    await admin(url, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    await admin(url, `ALTER DATABASE ${name} OWNER TO ${role}`)
    const alter = (change: string) =>
      admin(url, `ALTER ${change.replace('$d', name).replace('$r', role)}`)
    const own = url.replace('postgres:secret', `${role}:secret`)
    const { run } = commandsIn(t)
    assert.equal((await run('migrate', { env: { DATABASE_URL: own } })).code, 0)
    await alter(set)
    const said = new RegExp(`cannot begin a session of DATABASE_URL: .*${sentence.source}`)
    for (const command of ['user list', 'migrate', 'backup archive.db']) {
      const { code, stderr } = await run(command, { env: { DATABASE_URL: own } })
      assert.equal(code, 1)
      assert.match(stderr, said, command)
    }
    const { stdout } = await run('doctor', { env: { DATABASE_URL: own } })
    assert.match(stdout, said)
    assert.match(stdout, /→ correct that on the server, or correct DATABASE_URL/)
    const faults: unknown[] = []
    const store = await openServingPostgresStore(own, { onFault: (fault) => faults.push(fault) })
    t.after(store.close)
    assert.match(String((faults[0] as Error).cause), said)
    assert.equal(await outcomeOf(store, 'svc_live_x'), 'AuthenticationFault')
    await alter(set.replace('LIMIT 0', 'LIMIT -1').replace('= 1', '= DEFAULT'))
    await eventually(async () => (await outcomeOf(store, 'svc_live_x')) === 'unknown')
  })

test('a backup says that no server listens', async (t) => {
  const env = { DATABASE_URL: `postgres://ada@127.0.0.1:${await freePort()}/listing` }
  const { stderr } = await commandsIn(t).run('backup archive.db', { env })
  assert.match(stderr, /^error: cannot reach the database of DATABASE_URL: no server listens/)
})
