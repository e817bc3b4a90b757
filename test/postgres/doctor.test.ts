import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  judgeClock,
  judgeDurability,
  judgeTls,
  type ServerFacts,
} from '../../src/postgres/inspect.ts'
import { openPostgresStore } from '../../src/postgres/store.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { diagnose, statesOf } from '../cli/doctor/findings.ts'
import { programIn } from '../cli/program.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { postgresTables } from '../reliability/fault-injection/tables.ts'
import { writeLastBackup } from '../../src/database/last-backup.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const FACTS: ServerFacts = {
  version: '18.0',
  fsync: 'on',
  isFrozen: false,
  hops: [{ ssl: true, local: false }],
  clockMs: 0,
  errorMs: 0,
}

test('the doctor looks at a PostgreSQL database and changes nothing', async (t) => {
  const url = await createDatabase(server)
  const store = await openPostgresStore(url, { create: true })
  await store.database.transact((transaction) => writeLastBackup(transaction, presentInstant()))
  await store.close()
  const tables = await postgresTables(url)
  t.after(tables.close)
  const content = await tables.dump()
  const { durability, ...found } = await diagnose(programIn(t), { DATABASE_URL: url })
  assert.deepEqual(statesOf(found), { service: 'warning' })
  assert.deepEqual(Object.keys(found), [
    'environment',
    'database',
    'schema',
    'rows',
    'database_tls',
    'standbys',
    'clock',
    'grants',
    'triggers',
    'creators',
    'backup',
    'service',
    'site',
  ])
  assert.match(found.database!.found, /^PostgreSQL \d+/)
  const setting = await asAdmin(url, (admin) => admin.query('SHOW fsync'))
  assert.equal(durability!.state, setting.rows[0].fsync === 'on' ? 'ok' : 'problem')
  assert.deepEqual(await tables.dump(), content)
})

test('the advice fits a server that is away, and one that refuses', async (t) => {
  const url = await createDatabase(server)
  for (const [DATABASE_URL, advice] of [
    ['postgres://u@127.0.0.1:1/x', 'start the server, or correct DATABASE_URL'],
    [`${url}_missing`, 'correct that on the server, or correct DATABASE_URL'],
  ] as const) {
    const { database } = await diagnose(programIn(t), { DATABASE_URL })
    assert.deepEqual([database!.state, database!.advice], ['problem', advice])
  }
})

test('triggers that do not fire are named', async (t) => {
  const url = await createDatabase(server)
  const program = programIn(t)
  const env = { DATABASE_URL: url }
  await program.done('migrate', { env })
  const stateOf = async (sql: string) => {
    await asAdmin(url, (admin) => admin.query(sql))
    const { triggers } = await diagnose(program, env)
    return `${triggers!.state} ${triggers!.found}`
  }
  assert.match(
    await stateOf('ALTER TABLE users DISABLE TRIGGER users_kept'),
    /^problem .*keep_user/,
  )
  assert.match(await stateOf('ALTER TABLE users ENABLE TRIGGER USER'), /^ok /)
  assert.match(await stateOf('DROP TRIGGER api_keys_listed ON api_keys'), /^problem .*list_key/)
})

test('a database without our tables gets none, and an unreachable one is named', async (t) => {
  const program = programIn(t)
  const url = await createDatabase(server)
  const { schema, backup } = await diagnose(program, { DATABASE_URL: url })
  assert.equal(schema!.state, 'problem')
  assert.match(schema!.found, /no tables yet; `server-listing migrate` creates them/)
  assert.equal(backup, undefined)
  const relations = await asAdmin(url, (admin) =>
    admin.query(`SELECT 1 FROM pg_class WHERE relnamespace = 'public'::regnamespace`),
  )
  assert.equal(relations.rowCount, 0)

  const wrong = url.replace('postgres:secret', 'postgres:hunter2')
  for (const [DATABASE_URL, sentence] of [
    ['postgres://u:hunter2@127.0.0.1:1/d', /no server listens on port 1 of 127\.0\.0\.1/],
    [wrong, /the server refuses the user name or the password/],
    [`${url}_no`, /the server has no database of that name/],
  ] as const) {
    const found = await diagnose(program, { DATABASE_URL })
    assert.deepEqual(statesOf(found), { database: 'problem', service: 'warning' })
    assert.match(found.database!.found, sentence)
    assert.doesNotMatch(JSON.stringify(found), /hunter2/)
  }
})

test('an unencrypted connection, fsync = off and clocks that differ are found', () => {
  const [encrypted, local, clear] = [
    { ssl: true, local: false },
    { ssl: false, local: true },
    { ssl: false, local: false },
  ]
  for (const [hops, state, found] of [
    [[encrypted], 'ok', /to PostgreSQL is encrypted$/],
    [[local], 'ok', /to PostgreSQL stays on this machine$/],
    [[clear], 'warning', /^the connection to PostgreSQL is not encrypted/],
    [[encrypted, local], 'ok', /through the pooler is encrypted where it leaves a machine$/],
    [[clear, local], 'warning', /^the connection to the pooler is not encrypted/],
    [[encrypted, clear], 'warning', /^the connection from the pooler to PostgreSQL is not enc/],
  ] as const) {
    const finding = judgeTls({ ...FACTS, hops })
    assert.equal(finding.state, state)
    assert.match(finding.found, found)
  }
  assert.equal(judgeDurability(FACTS).state, 'ok')
  assert.equal(judgeDurability({ ...FACTS, fsync: 'off' }).state, 'problem')
  assert.equal(judgeClock({ ...FACTS, clockMs: 1_000 }).state, 'ok')
  assert.equal(judgeClock({ ...FACTS, clockMs: -1_500, errorMs: 500 }).state, 'ok')
  assert.match(judgeClock({ ...FACTS, clockMs: 1_600, errorMs: 500 }).found, /1\.6 s ahead of/)
  assert.match(judgeClock({ ...FACTS, clockMs: -90_000 }).found, /90\.0 s behind/)
})
