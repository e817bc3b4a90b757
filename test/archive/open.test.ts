import assert from 'node:assert/strict'
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openArchive } from '../../src/archive/open.ts'
import { backUpSqlite } from '../../src/archive/sqlite-backup.ts'
import { INSTANT_MAX } from '../../src/model/instant.ts'
import { migrate, MIGRATIONS } from '../../src/sqlite/migrate.ts'
import { migrateSqlite } from '../../src/sqlite/store.ts'
import { takeServingLock } from '../../src/sqlite/file/serving-lock.ts'
import { runCommand } from '../cli/command.ts'
import { withLater } from '../fixtures/later.ts'
import { change, filledFile, files, hashOf, restoreFile, rows, rowsOf } from './files.ts'

test('what is no archive is refused with a sentence, and does not change', async (t) => {
  const { folder, path, target, backUp } = files(t)
  await filledFile(path, 3)
  await backUp()
  const archive = readFileSync(target)
  const refused = async (sentence: RegExp, bytes: Uint8Array | null, ...changes: string[]) => {
    if (bytes !== null) writeFileSync(target, bytes)
    change(target, ...changes)
    const before = readFileSync(target)
    await assert.rejects(openArchive(target), { name: 'NotRestored', message: sentence })
    assert.deepEqual(readFileSync(target), before)
  }
  await assert.rejects(openArchive(join(folder, 'none')), /cannot restore .*: it does not exist/)
  await assert.rejects(openArchive(folder), /: it is a folder$/)
  await refused(/it is empty/, new Uint8Array())
  await refused(
    /it belongs to another program: it has tables, but not ours/,
    new Uint8Array(),
    'CREATE TABLE notes (a)',
  )
  await refused(/it has no tables/, new Uint8Array(), 'CREATE VIEW v AS SELECT 1')
  const rails = 'CREATE TABLE schema_migrations (version TEXT)'
  await refused(
    /it belongs to another program: it has tables, but not ours/,
    new Uint8Array(),
    rails,
  )
  const later = `INSERT INTO schema_migrations VALUES (9999, 'later', 9999, 0)`
  await refused(/needs a newer server-listing/, archive, later)
  const first = `UPDATE schema_migrations SET name = '0001-init.sql'`
  await refused(/a version before 0\.1\.0/, archive, first)

  const damaged = async (sentence: RegExp) => {
    const before = readFileSync(target)
    await assert.rejects(openArchive(target), { name: 'NotRestored', message: sentence })
    assert.deepEqual(readFileSync(target), before)
  }
  writeFileSync(target, 'PGDMP and so on'.repeat(500))
  await damaged(/cannot restore .*backup: it is not an SQLite database/)
  writeFileSync(target, archive)
  truncateSync(target, 40_000)
  await damaged(/cannot restore .*backup: it is damaged/)
  const changed = Buffer.from(archive)
  changed.fill(0xff, 4096 * 3, 4096 * 5)
  writeFileSync(target, changed)
  await damaged(/cannot restore .*backup: it is damaged/)
})

test('the file of a stopped service counts with its log and its journal', async (t) => {
  const { folder, path } = files(t)
  await filledFile(path, 1)
  const stopped = join(folder, 'stopped.db')
  const service = new DatabaseSync(path)
  service.exec(`UPDATE users SET email = 'log@example.com'`)
  // As a killed process leaves them: the last change is in the log only.
  for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${stopped}${end}`)
  service.close()
  writeFileSync(`${stopped}-revoked`, `\n2026-01-01T00:00:00.000000Z key ${hashOf(1)}\n`)
  const archive = await openArchive(stopped)
  t.after(() => archive.close())
  assert.equal(archive.database.prepare('SELECT email FROM users').get()?.email, 'log@example.com')
  assert.deepEqual([...archive.revocations.keys()], [hashOf(1)])
  assert.equal(archive.facts.made_at, null)
})

test('a file that is served is refused, and no process can serve it while it is open', async (t) => {
  const { path } = files(t)
  await filledFile(path, 1)
  const lock = await takeServingLock(path, 0)
  await assert.rejects(openArchive(path), /is being served by process \d+.*server-listing backup/)
  lock.release()
  const archive = await openArchive(path)
  await assert.rejects(takeServingLock(path, 0), { name: 'AlreadyServed' })
  archive.close()
  ;(await takeServingLock(path, 0)).release()
})

test('an archive of an older schema is migrated in a copy', async (t) => {
  const { target, path, backUp } = files(t)
  await filledFile(path, 2)
  await backUp()
  const before = readFileSync(target)
  const sql = 'ALTER TABLE users ADD COLUMN made_up TEXT; UPDATE users SET made_up = email'
  const archive = await openArchive(target, withLater(MIGRATIONS, sql))
  const found = archive.database.prepare('SELECT count(made_up) AS count FROM users').get()
  assert.deepEqual([found?.count, archive.facts.users], [2, 2])
  const copy = archive.database.location()!
  archive.close()
  assert.equal(existsSync(copy), false)
  assert.deepEqual(readFileSync(target), before)
})

for (const [how, sql] of [
  ['dropped', ''],
  ['changed', 'CREATE TRIGGER api_keys_changed AFTER UPDATE ON api_keys BEGIN SELECT 1; END'],
] as const)
  test(`an older file is read and migrated if a program has ${how} a trigger of it`, async (t) => {
    const { path, target } = files(t)
    const old = new DatabaseSync(target)
    migrate(old, MIGRATIONS.slice(0, 1))
    old.close()
    change(target, `DROP TRIGGER api_keys_changed; ${sql}`)
    await filledFile(path, 1)
    await restoreFile(path, target)
    assert.deepEqual(rows(path, 'SELECT count(*) FROM users'), [[0]])
    await migrateSqlite(target)
    const trigger = `SELECT sql FROM sqlite_schema WHERE name = 'api_keys_changed'`
    assert.deepEqual(rows(target, trigger), rows(path, trigger))
  })

test('the folder of a killed command that migrated an archive is removed after an hour', async (t) => {
  const { target, path, backUp } = files(t)
  await filledFile(path, 1)
  await backUp()
  const folders = [
    'server-listing-99999999-abcdef',
    `server-listing-${process.ppid}-abcdef`,
    'server-listing-99999999-recent',
    'server-listing-99999999-others',
    'server-listing-test-abcdef',
  ].map((name) => join(tmpdir(), name))
  for (const folder of folders) {
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'archive'), 'x')
    if (!folder.endsWith('recent')) utimesSync(folder, 1, Date.now() / 1000 - 3_601)
    // Only root can give a file away.
    if (folder.endsWith('others') && process.getuid!() === 0) chownSync(folder, 12_345, 12_345)
  }
  ;(await openArchive(target, withLater(MIGRATIONS, ''))).close()
  const isRoot = process.getuid!() === 0
  assert.deepEqual(
    folders.map((folder) => existsSync(folder)),
    [false, true, true, isRoot, true],
  )
})

test('a view without an end in place of a table is refused before it is read', async (t) => {
  const { path, target, folder } = files(t)
  await filledFile(path, 1)
  const endless = `AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    SELECT i AS id, i AS number, i AS name, i AS program_min, i AS applied_at, i AS api_key, i AS claimed_at FROM n`
  for (const table of ['users', 'servers', 'older_claims', 'schema_migrations']) {
    await backUpSqlite(path, target)
    change(
      target,
      `PRAGMA legacy_alter_table = ON; ALTER TABLE ${table} RENAME TO other; CREATE VIEW ${table} ${endless}`,
    )
    const refused = {
      name: 'NotRestored',
      message: new RegExp(`: ${table} is no table but a view$`),
    }
    await assert.rejects(openArchive(target), refused)
    if (table === 'schema_migrations') continue
    const { stdout } = await runCommand('doctor', { env: { DATABASE_URL: `sqlite:${target}` } })
    assert.match(stdout, new RegExp(`problem  rows: ${table} is no table but a view\n`))
    await assert.rejects(backUpSqlite(target, join(folder, 'again')), {
      name: 'NotBackedUp',
      message: new RegExp(`cannot be backed up: ${table} is no table but a view`),
    })
  }
  await backUpSqlite(path, target)
  change(target, 'DROP TABLE older_claims; CREATE VIRTUAL TABLE older_claims USING fts5(api_key)')
  await assert.rejects(openArchive(target), /older_claims is no table but a virtual/)

  // A trigger that the update of an older schema would fire.
  await backUpSqlite(path, target)
  change(
    target,
    `CREATE VIEW endless ${endless}; CREATE TRIGGER wait AFTER INSERT ON schema_migrations
     BEGIN SELECT count(*) FROM endless; END`,
  )
  ;(await openArchive(target, withLater(MIGRATIONS, ''))).close()
})

test('an archive from the end of time is opened', async (t) => {
  const { path } = files(t)
  await filledFile(path, 1)
  change(path, 'INSERT INTO last_backup VALUES (1, 9223372036854775807)')
  const archive = await openArchive(path)
  t.after(() => archive.close())
  assert.equal(archive.facts.made_at, INSTANT_MAX)
})

for (const [lacks, sql] of [
  ['api_keys was changed: it lacks serial', 'ALTER TABLE api_keys RENAME COLUMN serial TO other'],
  ['passwords was changed: it lacks hash', 'ALTER TABLE passwords RENAME COLUMN hash TO other'],
  ['last_claims was changed: it lacks .*claimed_at', 'DROP TABLE last_claims'],
] as const)
  test(`each command says that the table ${lacks}`, async (t) => {
    const { path, target, folder, backUp, restore } = files(t)
    const changed = join(folder, 'changed.db')
    for (const each of [path, changed]) await filledFile(each, 1)
    await backUp()
    change(changed, sql)
    const before = rowsOf(changed)
    const message = new RegExp(`: its table ${lacks}`)
    await assert.rejects(restore([], changed), { name: 'NotRestored', message })
    await assert.rejects(restoreFile(changed, target), { name: 'NotRestored', message })
    await assert.rejects(backUpSqlite(changed, join(folder, 'b')), { name: 'NotBackedUp', message })
    const { stdout } = await runCommand('doctor', { env: { DATABASE_URL: `sqlite:${changed}` } })
    assert.match(stdout, message)
    assert.deepEqual(rowsOf(changed), before)
  })

test('what an open archive reads does not change', async (t) => {
  const { path } = files(t)
  await filledFile(path, 1)
  const archive = await openArchive(path)
  change(path, 'DELETE FROM users')
  assert.equal(archive.database.prepare('SELECT count(*) AS count FROM users').get()?.count, 1)
  archive.close()
})
