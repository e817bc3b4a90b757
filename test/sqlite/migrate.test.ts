import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { NotConfigured } from '../../src/model/faults.ts'
import type { Migration } from '../../src/database/migrations.ts'
import { createDatabaseFile } from '../../src/sqlite/file/create-file.ts'
import { takeServingLock } from '../../src/sqlite/file/serving-lock.ts'
import { MIGRATIONS, migrate } from '../../src/sqlite/migrate.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { migrateSqlite, openSqliteStore } from '../../src/sqlite/store.ts'
import { claim } from '../contract/keys/claim.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { addOwner } from '../fixtures/service.ts'

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

test("a file with only a view and SQLite's own tables gets every migration", (t) => {
  const database = openEmpty(t)
  database.exec(`
    CREATE TABLE gone (id INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE gone;
    CREATE VIEW kept AS SELECT 1
  `)
  assert.deepEqual(tablesOf(database), ['sqlite_sequence'])
  assert.deepEqual(
    migrate(database),
    MIGRATIONS.map(({ name }) => name),
  )
})

test('a failed migration leaves no trace, and the next run completes it', (t) => {
  const database = openEmpty(t)
  const good = next(1, 'CREATE TABLE one (a)')
  assert.throws(() =>
    migrate(database, [good, next(2, 'CREATE TABLE two (a); CREATE TABLE one (a)')]),
  )
  assert.deepEqual(tablesOf(database), ['one', 'schema_migrations'])
  assert.deepEqual(migrate(database, [good, next(2, 'CREATE TABLE two (a)')]), ['0002-test.sql'])
  assert.deepEqual(tablesOf(database), ['one', 'schema_migrations', 'two'])
})

test('the next migration keeps the rows, and leaves what it finds already applied', (t) => {
  const database = openEmpty(t)
  migrate(database)
  database.exec(`INSERT INTO secrets VALUES ('setup', 'link')`)
  const { length } = MIGRATIONS
  const changes = [
    next(length + 1, 'ALTER TABLE secrets ADD COLUMN note TEXT'),
    next(length + 2, `UPDATE secrets SET note = value`),
  ]
  const names = changes.map(({ name }) => name)
  assert.deepEqual(migrate(database, [...MIGRATIONS, changes[0]!]), names.slice(0, 1))
  assert.deepEqual(migrate(database, [...MIGRATIONS, ...changes]), names.slice(1))
  assert.deepEqual(
    { ...database.prepare('SELECT * FROM secrets').get() },
    { name: 'setup', value: 'link', note: 'link' },
  )
})

test('the tables of a version before the first release are refused and stay the same to the byte', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL')
  const old = { ...next(1, 'CREATE TABLE users (id TEXT, name TEXT)'), name: '0001-init.sql' }
  migrate(database, [old, next(2, "INSERT INTO users VALUES ('ada', 'Ada')")])
  database.close()
  const before = readFileSync(path)
  const sentence =
    /tables of a version before 0\.1\.0.*`server-listing export`.*`server-listing apply`/
  for (const open of [
    () => migrateSqlite(path),
    () => openSqliteStore(path, { create: true }),
    () => openSqliteStore(path, { create: false }),
    () => openServingSqliteStore(path),
  ])
    await assert.rejects(open(), (error) => {
      assert.ok(error instanceof NotConfigured)
      assert.match(error.message, sentence)
      return true
    })
  assert.deepEqual(readFileSync(path), before)
})

test('a schema that needs a newer program is refused and stays untouched', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const known = MIGRATIONS.length
  const database = new DatabaseSync(path)
  const ledger = database.prepare('INSERT INTO schema_migrations VALUES (?, ?, ?, 0)')
  ledger.run(known + 1, 'from-the-future.sql', known + 1)
  database.close()
  await assert.rejects(openServingSqliteStore(path), NotConfigured)
  await assert.rejects(openSqliteStore(path, { create: false }), /needs a newer server-listing/)
})

test('a newer schema that still supports this program is served', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const known = MIGRATIONS.length
  const database = new DatabaseSync(path)
  database.exec('ALTER TABLE servers ADD COLUMN from_the_future TEXT')
  const ledger = database.prepare('INSERT INTO schema_migrations VALUES (?, ?, ?, 0)')
  ledger.run(known + 1, 'from-the-future.sql', known)
  database.close()
  const store = await openServingSqliteStore(path)
  t.after(() => store.close())
  const { key } = await addOwner(store, 'ada@example.com', [{ name: 'A', address: 'a.example' }])
  const claimed = await claim(store, key)
  assert.ok(claimed.outcome === 'granted')
  assert.deepEqual(
    claimed.rows?.map(({ name }) => name),
    ['A'],
  )
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

test('a migration is refused while another process serves the file', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  createDatabaseFile(path)
  const lock = await takeServingLock(path, 0)
  await assert.rejects(
    openSqliteStore(path, { create: true }),
    new RegExp(`older than this program, and .* is being served by process ${process.pid};`),
  )
  lock.release()
  const store = await openSqliteStore(path, { create: true })
  await store.close()
})
