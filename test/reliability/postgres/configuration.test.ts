import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { generateKey } from '../../../src/keys/api-key.ts'
import { MIGRATIONS } from '../../../src/postgres/migrate.ts'
import { migratePostgres, openPostgresStore } from '../../../src/postgres/store.ts'
import { logLines, programIn } from '../../cli/program.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { ask } from '../../fixtures/requests.ts'
import { addOwner } from '../../fixtures/service.ts'

/*
 * An operator has to fix the database. Until then the service runs and answers 503, one sentence in
 * the log names the problem, and commands fail with that sentence. No restart is needed.
 */

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

interface Case {
  name: string
  sentence: RegExp
  /** Breaks the database and returns the URL to use. */
  damage(url: string): Promise<string>
  repair(url: string): Promise<unknown>
}

const admin = (url: string, sql: string) => asAdmin(url, (client) => client.query(sql))
const asRole = (url: string, role: string) => url.replace('postgres:secret', `${role}:secret`)
const databaseOf = (url: string) => new URL(url).pathname.slice(1)

const CASES: Case[] = [
  {
    name: 'a wrong password',
    sentence: /the server refuses the user name or the password$/,
    async damage(url) {
      await admin(url, `CREATE ROLE ada LOGIN SUPERUSER PASSWORD 'forgotten'`)
      return asRole(url, 'ada')
    },
    repair: (url) => admin(url, `ALTER ROLE ada PASSWORD 'secret'`),
  },
  {
    name: 'a missing database',
    sentence: /the server has no database of that name$/,
    damage: async (url) => `${url}_missing`,
    repair: (url) => admin(url, `CREATE DATABASE ${databaseOf(url)}_missing`),
  },
  {
    name: 'a role without rights',
    sentence: /permission denied for schema public\. The user must own the database, or/,
    async damage(url) {
      await admin(url, `CREATE ROLE bob LOGIN PASSWORD 'secret'`)
      return asRole(url, 'bob')
    },
    repair: (url) => admin(url, 'GRANT ALL ON SCHEMA public TO bob'),
  },
  {
    name: 'a server that says it is older than any we support',
    sentence: /older than version 15$/,
    async damage(url) {
      // No such server is available. This database claims to be on one.
      await admin(
        url,
        `ALTER FUNCTION pg_catalog.current_setting(text) RENAME TO true_setting;
         CREATE FUNCTION pg_catalog.current_setting(text) RETURNS text LANGUAGE sql
           AS $$SELECT '140009'$$`,
      )
      return url
    },
    repair: (url) =>
      admin(
        url,
        `DROP FUNCTION pg_catalog.current_setting(text);
         ALTER FUNCTION pg_catalog.true_setting(text) RENAME TO current_setting`,
      ),
  },
  {
    name: "another program's schema",
    sentence: /belongs to another program/,
    async damage(url) {
      await admin(url, 'CREATE TABLE songs (title text)')
      return url
    },
    repair: (url) => admin(url, 'DROP TABLE songs'),
  },
  {
    name: 'a schema that needs a newer program',
    sentence:
      /needs a newer server-listing: its schema needs migration \d+, this program knows \d+$/,
    async damage(url) {
      await migratePostgres(url)
      const next = MIGRATIONS.length + 1
      await admin(url, `INSERT INTO schema_migrations VALUES (${next}, 'next', ${next}, now())`)
      return url
    },
    repair: (url) => admin(url, `DELETE FROM schema_migrations WHERE name = 'next'`),
  },
]

for (const { name, sentence, damage, repair } of CASES)
  test(`${name}: one sentence in the log and 503 until an operator fixes it`, async (t) => {
    const url = await createDatabase(cluster)
    const DATABASE_URL = await damage(url)
    const program = programIn(t)

    const refused = await program.run('migrate', { env: { DATABASE_URL } })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr.trim(), sentence)
    assert.equal(refused.stderr.trim().split('\n').length, 1)

    const served = await program.serve({ env: { DATABASE_URL } })
    const answer = await ask(served.port, { key: generateKey() })
    assert.deepEqual(
      [answer.status, JSON.parse(answer.body)],
      [503, { error: 'API server is not configured.' }],
    )
    assert.equal((await ask(served.port, { path: '/health' })).status, 200)
    const [line] = logLines(served.stdout())
    assert.equal(line?.fault, 'NotConfigured')
    assert.match(String(line?.reason), sentence)
    assert.doesNotMatch(served.stdout(), /secret| {4}at /)

    await repair(url)
    const store = await openPostgresStore(DATABASE_URL, { create: true })
    t.after(() => store.close())
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await ask(served.port, { key })).status, 200)
  })

test('a server that cannot open its own files may recover: 502, not 503', async (t) => {
  const url = await createDatabase(cluster)
  // As on a read-only disk: the first statement fails.
  await admin(
    url,
    `ALTER FUNCTION pg_catalog.pg_is_in_recovery() RENAME TO true_recovery;
     CREATE FUNCTION pg_catalog.pg_is_in_recovery() RETURNS boolean LANGUAGE plpgsql AS
       $$BEGIN RAISE EXCEPTION 'could not open file' USING ERRCODE = '42501'; END$$`,
  )
  const served = await programIn(t).serve({ env: { DATABASE_URL: url } })
  const { status, body } = await ask(served.port, { key: generateKey() })
  assert.deepEqual([status, JSON.parse(body)], [502, { error: 'Authentication service error.' }])
  await admin(
    url,
    `DROP FUNCTION pg_catalog.pg_is_in_recovery();
     ALTER FUNCTION pg_catalog.true_recovery() RENAME TO pg_is_in_recovery`,
  )
  assert.equal((await ask(served.port, { key: generateKey() })).status, 401)
})

test('a server that is away may return: 502, not 503', async (t) => {
  const url = await createDatabase(cluster)
  await migratePostgres(url)
  const store = await openPostgresStore(url, { create: true })
  const { key } = await addOwner(store, 'ada@example.com')
  await store.close()
  await cluster.stop('fast')
  const served = await programIn(t).serve({ env: { DATABASE_URL: url } })
  assert.equal((await ask(served.port, { key })).status, 502)
  assert.equal(logLines(served.stdout())[0]?.fault, 'AuthenticationFault')
  await cluster.start()
  assert.equal((await ask(served.port, { key })).status, 200)
})
