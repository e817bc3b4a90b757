import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { openDatabase } from '../../src/postgres/database.ts'
import { MIGRATIONS, migrate } from '../../src/postgres/migrate.ts'
import { MANAGING } from '../../src/postgres/patience.ts'
import { migratePostgres, openServingPostgresStore } from '../../src/postgres/store.ts'
import { diagnose } from '../cli/doctor/findings.ts'
import { programIn } from '../cli/program.ts'
import { migrateFurther } from '../fixtures/later.ts'
import { asAdmin, createDatabase, removeDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'

/*
 * Only the service has a right on its tables. A site of 0.1.0 had many.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** What the page of 0.1.0 had a site's role get. */
const OF_0_1_0 = `
  GRANT SELECT, DELETE ON users TO site;
  GRANT INSERT (id, email, external_id, created_at, disabled_at), UPDATE (email, disabled_at) ON users TO site;
  GRANT SELECT, INSERT ON identities TO site;
  GRANT SELECT, INSERT, UPDATE, DELETE ON servers TO site;
  GRANT SELECT (id, user_id, name, prefix, created_at, revoked_at),
    INSERT (user_id, name, prefix, key_hash, created_at, revoked_at), UPDATE (name, revoked_at) ON api_keys TO site;
  GRANT SELECT ON api_key_uses TO site`

async function openFirst(t: TestContext) {
  const url = await createDatabase(server)
  const role = `site_${new URL(url).pathname.slice(1)}`
  const run = (sql: string) =>
    asAdmin(url, (admin) => admin.query(sql.replaceAll(/\bsite\b/g, role)))
  t.after(async () => {
    await removeDatabase(server, url)
    await asAdmin(server.url(), (admin) => admin.query(`DROP ROLE ${role}`))
  })
  const database = openDatabase(url, MANAGING)
  t.after(database.close)
  await migrate(database, MIGRATIONS.slice(0, 1))
  await run('CREATE ROLE site LOGIN')
  return { url, role, run }
}

/** The statements that a message names. */
const cureIn = (message: string) => /run (REVOKE .*)$/s.exec(message)![1]!

test('the rights of a site of 0.1.0 stop the migration, whose message has the statement to run', async (t) => {
  const { url, role, run } = await openFirst(t)
  await run(OF_0_1_0)
  const policies = 'SELECT polname FROM pg_policy ORDER BY 1'
  const before = (await run(policies)).rows
  const tables =
    'public.api_key_uses, public.api_keys, public.identities, public.servers, public.users'
  const message = `${role} has rights on ${tables}. Only the service may reach its tables, and a site calls functions: run REVOKE ALL ON ${tables} FROM ${role}`
  await assert.rejects(migratePostgres(url), { name: 'NotConfigured', message })
  const faults: string[] = []
  const onFault = (fault: unknown) => faults.push((fault as Error).message)
  await (await openServingPostgresStore(url, { onFault })).close()
  assert.deepEqual(faults, [message])
  assert.deepEqual((await run(policies)).rows, before)
  await run(cureIn(message))
  assert.deepEqual(await migratePostgres(url), [MIGRATIONS[1]!.name])
  assert.deepEqual((await run(policies)).rows, [])
})

test('a right that comes later stops the next start, and the doctor names it', async (t) => {
  const { url, run } = await openFirst(t)
  await migratePostgres(url)
  await run('GRANT USAGE ON SCHEMA public TO site; GRANT EXECUTE ON FUNCTION keys_of TO site')
  const program = programIn(t)
  const grants = async () => (await diagnose(program, { DATABASE_URL: url })).grants!
  assert.deepEqual((await grants()).state, 'ok')
  await run('GRANT SELECT (name) ON servers TO site; GRANT SELECT ON users TO PUBLIC')
  const { state, found, advice } = await grants()
  assert.equal(state, 'problem')
  assert.match(
    found,
    /^PUBLIC has rights on public\.users; site_\S+ has rights on public\.servers\. /,
  )
  const faults: unknown[] = []
  await (await openServingPostgresStore(url, { onFault: (fault) => faults.push(fault) })).close()
  assert.deepEqual(
    faults.map((fault) => (fault as Error).message),
    [`${found}: ${advice}`],
  )
  await run(cureIn(advice!))
  assert.deepEqual((await grants()).state, 'ok')
})

test('a migration gives no role the rights that the database has as defaults', async (t) => {
  const { url, run } = await openFirst(t)
  const withRights = async () =>
    (
      await run(`SELECT relname AS name FROM pg_class WHERE relacl::text ~ 'site'
        UNION SELECT proname FROM pg_proc WHERE proacl::text ~ 'site'
        UNION SELECT typname FROM pg_type WHERE typtype = 'd' AND typacl::text ~ 'site'
        ORDER BY name`)
    ).rows.map(({ name }) => name)
  await run(
    ['TABLES', 'FUNCTIONS', 'TYPES']
      .map((kind) => `ALTER DEFAULT PRIVILEGES GRANT ALL ON ${kind} TO site`)
      .join(';'),
  )
  const pending = MIGRATIONS.slice(1)
  assert.deepEqual(
    await migratePostgres(url),
    pending.map(({ name }) => name),
  )
  assert.deepEqual(await withRights(), [])

  // What the owner has granted to a site stays when a migration replaces the function.
  await run('GRANT EXECUTE ON FUNCTION keys_of TO site')
  const { rows } = await run(`SELECT pg_get_functiondef('keys_of(text)'::regprocedure) AS keys_of`)
  const sql = `${rows[0].keys_of}; CREATE FUNCTION other() RETURNS int RETURN 1; CREATE TABLE more ()`
  await migrateFurther({ engine: 'postgres', url }, sql)
  assert.deepEqual(await withRights(), ['keys_of'])
})

test('a database with default rights for another role gets its first schema', async (t) => {
  const { url, run } = await openFirst(t)
  await run('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  await run('ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO site')
  assert.deepEqual(
    await migratePostgres(url),
    MIGRATIONS.map(({ name }) => name),
  )
})
