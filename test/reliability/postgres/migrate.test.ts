import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../../src/postgres/database.ts'
import { ENDLESS } from '../../../src/postgres/patience.ts'
import { MIGRATIONS, migrate } from '../../../src/postgres/migrate.ts'
import { migratePostgres } from '../../../src/postgres/store.ts'
import { type Cluster, startCluster } from '../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../fixtures/postgres/database.ts'
import { migrateFurther, withLater } from '../../fixtures/later.ts'
import { addOwner } from '../../fixtures/service.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { openStore, outcomeOf } from '../../postgres/claims/outcomes.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { once } from '../../fixtures/within.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Each migration runs once, in order and whole or not at all, in any number of processes. Two
 * versions of the program work side by side on the newer schema.
 */

let cluster: Cluster
before(async () => {
  cluster = await startCluster()
})
after(() => cluster.remove())

const NAMES = MIGRATIONS.map(({ name }) => name)

test('an empty database gets every migration once, in order', async () => {
  const url = await createDatabase(cluster)
  assert.deepEqual(await migratePostgres(url), NAMES)
  assert.deepEqual(await migratePostgres(url), [])
})

test('six processes that migrate one database at once all succeed', async () => {
  const url = await createDatabase(cluster)
  const children = Array.from({ length: 6 }, () => spawnMigrate(url))
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
  assert.deepEqual(codes, [0, 0, 0, 0, 0, 0])
  assert.deepEqual(await migratePostgres(url), [])
})

test('the next process completes the migration of a killed one', async () => {
  for (let round = 0; round < 8; round += 1) {
    const url = await createDatabase(cluster)
    const child = spawnMigrate(url)
    const exited = once(child, 'exit')
    await Promise.race([untilConnected(url), exited])
    await delay(round * 4)
    child.kill('SIGKILL')
    await exited
    await migratePostgres(url)
    assert.deepEqual(await migratePostgres(url), [])
  }
})

test('a failed migration leaves no trace, and the next run completes it', async (t) => {
  const database = openDatabase(await createDatabase(cluster), ENDLESS)
  t.after(database.close)
  await migrate(database)
  const wrong = withLater(MIGRATIONS, 'CREATE TABLE two (a int); CREATE TABLE users (a int)')
  await assert.rejects(migrate(database, wrong), /"users" already exists/)
  assert.equal((await database.query(`SELECT FROM pg_class WHERE relname = 'two'`)).length, 0)
  const right = withLater(MIGRATIONS, 'CREATE TABLE two (a int)')
  assert.deepEqual(await migrate(database, right), [right.at(-1)!.name])
})

test('a second migration waits for a long one', async (t) => {
  const url = await createDatabase(cluster)
  await migratePostgres(url)
  const slow = withLater(MIGRATIONS, 'SELECT pg_sleep(2)')
  const databases = [openDatabase(url, ENDLESS), openDatabase(url, ENDLESS)]
  t.after(() => Promise.all(databases.map(({ close }) => close())))
  const applied = await Promise.all(databases.map((database) => migrate(database, slow)))
  assert.deepEqual(applied.flat(), [slow.at(-1)!.name])
})

test('the next version migrates under a running one, and both keep working', async (t) => {
  const url = await createDatabase(cluster)
  const running = await openStore(t, url)
  const { key, user } = await addOwner(running, 'ada@example.com', [
    { name: 'a', address: 'a.example.com' },
  ])
  assert.equal(await outcomeOf(running, key), 'granted')

  // An expanding migration may add columns and an index and renew all revisions.
  await migrateFurther(
    { engine: 'postgres', url },
    `ALTER TABLE servers ADD COLUMN motto text NOT NULL DEFAULT '';
     ALTER TABLE api_keys ADD COLUMN note text;
     CREATE INDEX servers_by_motto ON servers (motto);
     UPDATE listing_revisions SET revision = gen_random_uuid()`,
  )

  const started = await openStore(t, url)
  for (const store of [running, started, running]) {
    await delay(1_000)
    assert.equal(await outcomeOf(store, key), 'granted')
    assert.equal(await outcomeOf(store === running ? started : running, key), 'limited')
  }
  const entry = { name: 'b', address: 'b.example.com' }
  await recordsOf(running).saveServers(user.id, null, [entry], operatorAt(Date.now() * 1000))
  assert.equal((await recordsOf(started).listServers(user.id)).length, 2)
})

test('a schema can require the next version: a running one continues, a start fails', async (t) => {
  const url = await createDatabase(cluster)
  const running = await openStore(t, url)
  const { key } = await addOwner(running, 'ada@example.com')
  await migrateFurther({ engine: 'postgres', url }, 'SELECT 1', 'breaking')
  assert.equal(await outcomeOf(running, key), 'granted')
  const started = await openStore(t, url)
  assert.equal(await outcomeOf(started, key), 'NotConfigured')
})

function spawnMigrate(url: string) {
  return spawn(process.execPath, [join(ROOT, 'bin/server-listing.js'), 'migrate'], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function untilConnected(url: string): Promise<void> {
  await asAdmin(url, async (client) => {
    for (;;) {
      const { rows } = await client.query(
        `SELECT FROM pg_stat_activity WHERE application_name = 'server-listing' AND datname = current_database()`,
      )
      if (rows.length > 0) return
    }
  })
}
