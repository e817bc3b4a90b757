import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openDatabase } from '../../src/postgres/database.ts'
import { sentenceOf } from '../../src/model/health/finding.ts'
import { inspectCreators } from '../../src/postgres/creators.ts'
import { MANAGING } from '../../src/postgres/patience.ts'
import { openServingPostgresStore } from '../../src/postgres/store.ts'
import { programIn } from '../cli/program.ts'
import { asAdmin, createDatabase } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { diagnose } from '../cli/doctor/findings.ts'

/*
 * A role that may create in our schema can plant an operator there that our statements call.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const [LISTING, SITE, GROUP] = ['listing', 'site', 'team'].map((name) => `${name}_${process.pid}`)

/** What an administrator did, and what the service says of it; null if nothing. */
const CASES: [name: string, sql: string, found: RegExp | null, advice?: string][] = [
  ['the service owns its schema', `CREATE SCHEMA ours AUTHORIZATION ${LISTING}`, null],
  [
    'its own group owns the schema',
    `CREATE SCHEMA ours AUTHORIZATION ${LISTING}; GRANT CREATE ON SCHEMA ours TO ${GROUP};
     REVOKE ${GROUP} FROM ${SITE}`,
    null,
  ],
  [
    'a group with another member may create',
    `CREATE SCHEMA ours AUTHORIZATION ${LISTING}; GRANT CREATE ON SCHEMA ours TO ${GROUP};
     GRANT ${GROUP} TO ${SITE}`,
    new RegExp(`^${GROUP} may create in the schema ours`),
    `run REVOKE CREATE ON SCHEMA ours FROM ${GROUP}`,
  ],
  [
    'every role may create',
    `CREATE SCHEMA ours AUTHORIZATION ${LISTING}; GRANT CREATE ON SCHEMA ours TO PUBLIC`,
    /^PUBLIC may create/,
    'run REVOKE CREATE ON SCHEMA ours FROM PUBLIC',
  ],
  [
    'the site owns the schema',
    `CREATE SCHEMA ours AUTHORIZATION ${SITE}; GRANT CREATE, USAGE ON SCHEMA ours TO ${LISTING}`,
    new RegExp(`^${SITE} may create`),
    `run ALTER SCHEMA ours OWNER TO ${LISTING}`,
  ],
  [
    'the site owns the database, and the service uses a schema of its owner',
    `CREATE SCHEMA ours AUTHORIZATION pg_database_owner;
     GRANT CREATE, USAGE ON SCHEMA ours TO ${LISTING}`,
    new RegExp(`^${SITE} may create`),
    `run ALTER SCHEMA ours OWNER TO ${LISTING}`,
  ],
]

test('roles that may create in our schema are named, with the statement that ends it', async (t) => {
  const roles = `
    CREATE ROLE ${GROUP};
    CREATE ROLE ${LISTING} LOGIN PASSWORD 'secret' IN ROLE ${GROUP};
    CREATE ROLE ${SITE} LOGIN PASSWORD 'secret'`
  await asAdmin(server.url(), (admin) => admin.query(roles))
  for (const [name, sql, found, advice] of CASES) {
    const url = await createDatabase(server, `OWNER ${SITE}`)
    await asAdmin(url, (admin) => admin.query(sql))
    const own = url.replace('postgres:secret', `${LISTING}:secret`)
    const database = openDatabase(`${own}?options=-csearch_path%3Dours`, MANAGING)
    t.after(database.close)
    const finding = await inspectCreators(database)
    assert.match(finding.found, found ?? /^no other role/, name)
    assert.equal(finding.advice, advice ?? null, name)
  }
})

test('a schema whose name needs quotes is served, archived and restored', async (t) => {
  const url = await createDatabase(server)
  await asAdmin(url, (admin) => admin.query('CREATE SCHEMA "Game-1"'))
  const DATABASE_URL = `${url}?options=${encodeURIComponent('-c search_path="Game-1"')}`
  const program = programIn(t)
  const env = { DATABASE_URL }
  const archive = join(program.folder, 'archive.db')
  for (const args of [
    'migrate',
    'user add ada@example.com',
    `backup ${archive}`,
    `restore --yes ${archive}`,
  ])
    await program.done(args, { env })
  const { schema, creators, rows } = await diagnose(program, env)
  assert.deepEqual([schema!.state, creators!.state, rows!.state], ['ok', 'ok', 'ok'])
})

test('doctor and the start warn of such a role', async (t) => {
  const url = await createMigratedDatabase(server)
  const role = `guest_${process.pid}`
  await asAdmin(url, (admin) =>
    admin.query(`CREATE ROLE ${role} LOGIN; GRANT CREATE ON SCHEMA public TO ${role}`),
  )
  const { creators } = await diagnose(programIn(t), { DATABASE_URL: url })
  assert.equal(creators!.state, 'warning')
  assert.equal(creators!.advice, `run REVOKE CREATE ON SCHEMA public FROM ${role}`)
  const warnings: string[] = []
  const store = await openServingPostgresStore(url, {
    onFinding: (finding) => void (finding.state === 'ok' || warnings.push(sentenceOf(finding))),
  })
  await store.close()
  assert.equal(warnings.length, 1)
  assert.match(warnings[0]!, /^guest_\d+ may create in the schema public of the service.*REVOKE/)
})
