import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { NotConfigured } from '../../src/model/faults.ts'
import { openDatabase, rollBack, transact, retryWhileLocked } from '../../src/sqlite/database.ts'
import { createDatabaseFile } from '../../src/sqlite/file/create-file.ts'
import { isLocked, unusable } from '../../src/sqlite/errors.ts'
import { migrate } from '../../src/sqlite/migrate.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

/*
 * What all connections to the file have in common.
 */

const OPTIONS = { synchronous: 'NORMAL', lockWaitMs: 0 } as const

test('a new file and its folders are private to their owner; existing ones are kept', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'a', 'b', 'listing.db')
  createDatabaseFile(path)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  for (const made of ['a', 'a/b']) assert.equal(statSync(join(folder, made)).mode & 0o777, 0o700)
  writeFileSync(path, 'x')
  createDatabaseFile(path)
  assert.equal(statSync(path).size, 1)
  assert.throws(() => createDatabaseFile(join(path, 'below', 'a.db')), { code: 'ENOTDIR' })
  assert.throws(() => createDatabaseFile(join(path, 'a.db')), { code: 'ENOTDIR' })
})

test('a path may go through a missing folder, but not through a broken link', (t) => {
  const folder = temporaryFolder(t)
  for (const path of [`${folder}/a/./listing.db`, `${folder}/b/../c/listing.db`]) {
    createDatabaseFile(path)
    assert.equal(statSync(path).size, 0)
  }
  assert.deepEqual(readdirSync(folder).toSorted(), ['a', 'b', 'c'])
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'))
  assert.throws(() => createDatabaseFile(join(folder, 'link', 'a.db')), { code: 'EEXIST' })
})

test('a connection uses WAL, bounds its cache and its log, and syncs as configured', (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  createDatabaseFile(path)
  for (const [synchronous, number] of [
    ['NORMAL', 1],
    ['FULL', 2],
  ] as const) {
    const database = openDatabase(path, { synchronous, lockWaitMs: 7 })
    const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get()!)[0]
    assert.equal(pragma('journal_mode'), 'wal')
    assert.equal(pragma('synchronous'), number)
    assert.equal(pragma('cache_size'), -4_096)
    assert.equal(pragma('journal_size_limit'), 33_554_432)
    assert.equal(pragma('busy_timeout'), 7)
    database.close()
  }
})

test("another program's database stays untouched; an empty file and our own are opened", (t) => {
  const folder = temporaryFolder(t)
  const make = (name: string, sql: string) => {
    const path = join(folder, name)
    const database = new DatabaseSync(path)
    database.exec(sql)
    database.close()
    return path
  }
  const foreign = make('foreign.db', 'CREATE TABLE notes (text)')
  assert.throws(() => openDatabase(foreign, OPTIONS), /belongs to another program/)
  assert.equal(existsSync(`${foreign}-wal`), false)
  // Reading a database in WAL mode creates files beside it; closing the connection removes them.
  const ahead = make('ahead.db', 'PRAGMA journal_mode = WAL; CREATE TABLE notes (text)')
  assert.throws(() => openDatabase(ahead, OPTIONS), /belongs to another program/)
  // As the serving lock beside a database file, which is no database of the service.
  const lock = make('lock.db', 'CREATE TABLE holder (a)')
  assert.throws(() => openDatabase(lock, OPTIONS), /belongs to another program/)
  assert.deepEqual(readdirSync(folder).toSorted(), ['ahead.db', 'foreign.db', 'lock.db'])
  const empty = make('empty.db', 'CREATE VIEW v AS SELECT 1')
  const ours = new DatabaseSync(join(folder, 'ours.db'))
  migrate(ours)
  ours.close()
  for (const path of [empty, join(folder, 'ours.db')]) openDatabase(path, OPTIONS).close()
})

test('a transaction commits all or nothing and takes the write lock when it begins', (t) => {
  const { database, other } = openTwo(t)
  const count = () => database.prepare('SELECT count(*) AS n FROM notes').get()?.n
  const result = transact(database, () => {
    assert.throws(() => other.exec('BEGIN IMMEDIATE'), isLocked)
    database.exec(`INSERT INTO notes VALUES ('a')`)
    return 7
  })
  assert.equal(result, 7)
  assert.equal(count(), 1)
  const broken = () => {
    database.exec(`INSERT INTO notes VALUES ('b')`)
    throw new Error('broken')
  }
  assert.throws(() => transact(database, broken), /broken/)
  assert.equal(count(), 1)
  assert.equal(database.isTransaction, false)
  // SQLite has already ended the transaction, so the code must not roll back again.
  rollBack(database)
})

test('a transaction that could not be rolled back is not part of the next one', (t) => {
  const { database } = openTwo(t)
  database.exec(`BEGIN; INSERT INTO notes VALUES ('of the one before')`)
  transact(database, () => database.exec(`INSERT INTO notes VALUES ('a')`))
  const notes = database.prepare('SELECT text FROM notes').all()
  assert.deepEqual(
    notes.map(({ text }) => text),
    ['a'],
  )
})

test('a locked file is retried for a while; any other error is thrown at once', async (t) => {
  const { database, other } = openTwo(t)
  let tries = 0
  const write = () => {
    tries += 1
    database.exec(`INSERT INTO notes VALUES ('a')`)
    return tries
  }
  other.exec('BEGIN IMMEDIATE')
  await assert.rejects(retryWhileLocked(write, 50), isLocked)
  assert.ok(tries > 1, `${tries} tries`)
  const written = retryWhileLocked(write, 60_000)
  other.exec('COMMIT')
  assert.ok((await written) >= 3)
  tries = 0
  database.exec('DROP TABLE notes')
  await assert.rejects(retryWhileLocked(write, 50), /no such table/)
  assert.equal(tries, 1)
})

test('only a lasting failure to open becomes a sentence for the operator', () => {
  const sentences: [error: object, sentence: RegExp][] = [
    [{ code: 'EACCES' }, /this user may not write there$/],
    [{ code: 'EPERM' }, /this user may not write there$/],
    [{ code: 'EROFS' }, /the disk is read-only$/],
    [{ code: 'ENOTDIR' }, /a part of its path is a file, not a folder$/],
    [{ code: 'EEXIST' }, /a part of its path is a file, not a folder$/],
    [{ code: 'ENOENT' }, /a folder on its path cannot be made$/],
    [{ code: 'EISDIR' }, /it is a folder$/],
    [{ code: 'ENAMETOOLONG' }, /is too long for a file system$/],
    [{ code: 'ELOOP' }, /a loop of symbolic links$/],
    [{ errcode: 14 }, /may not read and write it and its folder$/],
    [{ errcode: 8 }, /may not write it or its folder, or the disk is read-only$/],
    [{ errcode: 26 }, /it is not an SQLite database$/],
    [{ errcode: 11 }, /it is damaged; restore a backup in its place$/],
    // The extended code of a failed read.
    [{ errcode: 266 }, /the system cannot read or write it$/],
  ]
  for (const [cause, sentence] of sentences) {
    const fault = unusable('/data/a.db', cause)
    assert.ok(fault instanceof NotConfigured)
    assert.match(fault.message, /^cannot use the database file \/data\/a\.db: /)
    assert.match(fault.message, sentence)
    assert.equal(fault.cause, cause)
  }
  for (const error of [
    { errcode: 5 },
    { errcode: 1 },
    { code: 'EMFILE' },
    new Error('x'),
    undefined,
  ])
    assert.equal(unusable('a.db', error), null)
  assert.equal(isLocked({ errcode: 517 }), true)
  for (const error of [{ errcode: 6 }, {}, undefined]) assert.equal(isLocked(error), false)
})

function openTwo(t: { after(end: () => void): void }): {
  database: DatabaseSync
  other: DatabaseSync
} {
  const path = join(temporaryFolder(t), 'listing.db')
  const [database, other] = [new DatabaseSync(path), new DatabaseSync(path)]
  database.exec('PRAGMA busy_timeout = 0; CREATE TABLE notes (text)')
  other.exec('PRAGMA busy_timeout = 0')
  t.after(() => {
    database.close()
    other.close()
  })
  return { database, other }
}
