import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { NotConfigured } from '../../src/listing/faults.ts'
import type { Migration } from '../../src/migrations.ts'
import { createDatabaseFile } from '../../src/sqlite/database.ts'
import { MIGRATIONS, migrate } from '../../src/sqlite/migrate.ts'
import { takeServingLock } from '../../src/sqlite/serving-lock.ts'
import { migrateSqlite, openServingSqliteStore, openSqliteStore } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { ROOT } from '../fixtures/tree.ts'

const next = (number: number, sql: string, programMin = 1): Migration => ({
  number,
  name: `000${number}-test.sql`,
  sql,
  programMin,
})

test('an empty file gets every migration once, in order', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const names = MIGRATIONS.map(({ name }) => name)
  assert.deepEqual(await migrateSqlite(path), names)
  assert.deepEqual(await migrateSqlite(path), [])
})

test('a migration that fails leaves nothing of itself, and is completed by the next run', (t) => {
  const database = openEmpty(t)
  const good = next(1, 'CREATE TABLE one (a)')
  assert.throws(() =>
    migrate(database, [good, next(2, 'CREATE TABLE two (a); CREATE TABLE one (a)')]),
  )
  assert.deepEqual(tablesOf(database), ['one', 'schema_migrations'])
  assert.deepEqual(migrate(database, [good, next(2, 'CREATE TABLE two (a)')]), ['0002-test.sql'])
  assert.deepEqual(tablesOf(database), ['one', 'schema_migrations', 'two'])
})

test('a schema that asks for a newer program is not configured, and not touched', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const known = MIGRATIONS.length
  const database = new DatabaseSync(path)
  const ledger = database.prepare('INSERT INTO schema_migrations VALUES (?, ?, ?, 0)')
  ledger.run(known + 1, 'from-the-future.sql', known + 1)
  database.close()
  await assert.rejects(openServingSqliteStore(path), NotConfigured)
  await assert.rejects(openSqliteStore(path, { create: false }), /asks for a newer server-listing/)
})

test('a newer schema that still lets this program work is served', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const known = MIGRATIONS.length
  const database = new DatabaseSync(path)
  database.exec('ALTER TABLE servers ADD COLUMN from_the_future TEXT')
  const ledger = database.prepare('INSERT INTO schema_migrations VALUES (?, ?, ?, 0)')
  ledger.run(known + 1, 'from-the-future.sql', known)
  database.close()
  const store = await openServingSqliteStore(path)
  await store.close()
})

test("another program's database is not configured, and stays as it is to the byte", async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)')
  database.close()
  const before = readFileSync(path)
  await assert.rejects(openServingSqliteStore(path), /belongs to another program/)
  await assert.rejects(openSqliteStore(path, { create: true }), NotConfigured)
  await assert.rejects(migrateSqlite(path), NotConfigured)
  assert.deepEqual(readFileSync(path), before)
  assert.deepEqual(readdirSync(folder), ['listing.db'])
})

test('a schema is never brought up to date under the process that serves it', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  createDatabaseFile(path)
  const release = await takeServingLock(path, 0)
  await assert.rejects(
    openSqliteStore(path, { create: true }),
    new RegExp(`older than this program, and .* is being served by process ${process.pid};`),
  )
  release()
  const store = await openSqliteStore(path, { create: true })
  await store.close()
})

test('six processes that migrate one file at once, in a folder that is to be made, all end well', async (t) => {
  const path = join(temporaryFolder(t), 'a', 'new', 'folder', 'listing.db')
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, [join(ROOT, 'bin/server-listing.js'), 'migrate'], {
      env: { ...process.env, DATABASE_URL: `sqlite:${path}` },
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  )
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
  assert.deepEqual(codes, [0, 0, 0, 0, 0, 0])
  assert.deepEqual(await migrateSqlite(path), [])
})

test('a process killed while it migrates leaves a file that the next one completes', async (t) => {
  const folder = temporaryFolder(t)
  for (let round = 0; round < 8; round += 1) {
    const path = join(folder, `listing-${round}.db`)
    const script = `
      import { migrateSqlite } from ${JSON.stringify(join(ROOT, 'src/sqlite/store.ts'))}
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 0)
      process.send('ready')
      await migrateSqlite(${JSON.stringify(path)})`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.once('message', () => setTimeout(() => child.kill('SIGKILL'), round / 2))
    await once(child, 'exit')
    await migrateSqlite(path)
    assert.deepEqual(await migrateSqlite(path), [])
    const store = await openServingSqliteStore(path)
    await store.close()
  }
})

function openEmpty(t: { after(end: () => void): void }): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  return database
}

function tablesOf(database: DatabaseSync): unknown[] {
  const tables = database.prepare(
    `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`,
  )
  return tables.all().map(({ name }) => name)
}
