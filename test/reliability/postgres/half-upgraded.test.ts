import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { MIGRATIONS } from '../../../src/postgres/migrate.ts'
import { type Program, programIn } from '../../cli/program.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { untilWaiting } from '../../postgres/other-session.ts'
import { keptReleases } from '../releases/kept.ts'
import { postgresOf } from '../releases/placed.ts'
import { readRows } from '../releases/postgres-rows.ts'

/*
 * An upgrade of a PostgreSQL database that ends in the middle leaves the database of the release,
 * which commands refuse with one sentence. The next `migrate` completes it, and waits for a backend
 * whose client was killed.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const known = MIGRATIONS.length
const last = MIGRATIONS.at(-1)!.name
const DONE = `applied ${last}\nthe schema is up to date\n`
const OUTDATED = `error: the schema of the database of DATABASE_URL is older than this program: it has ${known - 1} of ${known} migrations. Make a backup with the earlier version, then update it with \`server-listing migrate\`\n`

const failed = (reason: string) =>
  `error: migration ${last} failed and was rolled back: ${reason}. Mend that, and try again\n`

/** Another program's trigger, which slows the upgrade by a second. */
const SLOW = `
  CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_catalog.pg_sleep(1); RETURN NULL; END';
  CREATE TRIGGER wait AFTER DELETE ON invitations EXECUTE FUNCTION wait()`
const FAST = 'DROP TRIGGER wait ON invitations; DROP FUNCTION wait'

async function assertOld({ run, folder }: Program, url: string): Promise<void> {
  for (const args of ['user list', `backup ${folder}/archive`]) {
    const { code, stderr } = await run(args, { env: { DATABASE_URL: url } })
    assert.deepEqual([code, stderr], [1, OUTDATED], args)
  }
}

/** Names of all relations, with their files, and all rows. */
async function contentOf(client: pg.Client) {
  const { rows } = await client.query(
    `SELECT relname, relfilenode FROM pg_class
     WHERE relnamespace = 'public'::regnamespace ORDER BY relname`,
  )
  return [rows, await readRows(client)]
}

/** All rows but the instants of migrations. */
async function rowsOf(url: string) {
  const { schema_migrations: ledger, ...rows } = await asAdmin(url, readRows)
  return { ...rows, ledger: ledger!.map((row) => ({ ...row, applied_at: null })) }
}

/** A database of the newest release, and a copy of it. */
async function oldDatabase(): Promise<{ url: string; copy: string }> {
  const { url } = await postgresOf(server, keptReleases().at(-1)!)
  const copy = await createDatabase(server, `TEMPLATE ${new URL(url).pathname.slice(1)}`)
  return { url, copy }
}

/** Asserts that the upgrade is as that of the copy, which nothing interrupts. */
async function assertUpgraded({ done }: Program, url: string, copy: string): Promise<void> {
  await done('migrate', { env: { DATABASE_URL: copy } })
  assert.deepEqual(await rowsOf(url), await rowsOf(copy))
}

const untilSleeping = (client: pg.Client) =>
  eventually(async () => {
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
    )
    return rowCount === 1
  })

for (const command of ['migrate', 'serve'])
  test(`the next \`migrate\` waits for the backend of a killed \`${command}\`, and completes it`, async (t) => {
    const program = programIn(t)
    const { url, copy } = await oldDatabase()
    const env = { DATABASE_URL: url }
    await asAdmin(url, async (holder) => {
      await holder.query('BEGIN; LOCK TABLE users IN ACCESS SHARE MODE')
      const before = await contentOf(holder)
      const killed = program.begin(command, { env })
      await untilWaiting(url, 1)
      killed.kill('SIGKILL')
      assert.equal((await killed.ended).signal, 'SIGKILL')
      const next = program.begin('migrate', { env })
      await untilWaiting(url, 2)
      await assertOld(program, url)
      assert.deepEqual(await contentOf(holder), before)
      await holder.query('COMMIT')
      const { code, stderr } = await next.ended
      assert.equal(code, 0, stderr)
      assert.ok(stderr.startsWith(DONE), stderr)
    })
    await assertUpgraded(program, url, copy)
  })

test('a backend that goes on without its client commits nothing', async (t) => {
  const program = programIn(t)
  const { url, copy } = await oldDatabase()
  const env = { DATABASE_URL: url }
  await asAdmin(url, async (admin) => {
    await admin.query(SLOW)
    const before = await contentOf(admin)
    const killed = program.begin('migrate', { env })
    await untilSleeping(admin)
    killed.kill('SIGKILL')
    await killed.ended
    await eventually(async () => {
      const { rowCount } = await admin.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      )
      return rowCount === 0
    })
    assert.deepEqual(await contentOf(admin), before)
    await assertOld(program, url)
    await admin.query(FAST)
  })
  assert.match((await program.run('migrate', { env })).stderr, new RegExp(`^${DONE}`))
  await assertUpgraded(program, url, copy)
})

test('a `migrate` that is killed between two migrations has done the first one', async (t) => {
  const program = programIn(t)
  const url = await createDatabase(server)
  const env = { DATABASE_URL: url }
  const lock = 'SELECT pg_advisory_lock(7318349122)'
  await asAdmin(url, async (first) => {
    await first.query(lock)
    const killed = program.begin('migrate', { env })
    await untilWaiting(url, 1)
    // Sessions get the lock in the order of their requests.
    await asAdmin(url, async (second) => {
      const locked = second.query(lock)
      await untilWaiting(url, 2)
      await first.query('SELECT pg_advisory_unlock_all()')
      await locked
      await untilWaiting(url, 1)
      killed.kill('SIGKILL')
      await killed.ended
    })
  })
  await assertOld(program, url)
  const { stderr } = await program.run('migrate', { env })
  assert.ok(stderr.startsWith(DONE), stderr)
})

test('a refused migration and a canceled one have a sentence each, and change nothing', async (t) => {
  const program = programIn(t)
  const { url, copy } = await oldDatabase()
  const env = { DATABASE_URL: url }
  await asAdmin(url, async (admin) => {
    await admin.query(`CREATE TABLE key_gate (); ${SLOW}`)
    const before = await contentOf(admin)
    const canceled = program.begin('migrate', { env })
    await untilSleeping(admin)
    await admin.query(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
    )
    const { code, stderr } = await canceled.ended
    assert.deepEqual([code, stderr], [1, failed('canceling statement due to user request')])

    const refused = failed('relation "key_gate" already exists')
    for (const [args, expected] of [
      ['migrate', 1],
      ['serve --require-database', 78],
    ] as const) {
      const ended = await program.begin(args, { env }).ended
      assert.deepEqual([args, ended.code, ended.stderr], [args, expected, refused])
    }
    assert.deepEqual(await contentOf(admin), before)
    await assertOld(program, url)
    await admin.query(`DROP TABLE key_gate; ${FAST}`)
  })
  await program.done('migrate', { env })
  await assertUpgraded(program, url, copy)
})
