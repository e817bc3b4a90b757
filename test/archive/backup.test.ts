import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { NotBackedUp } from '../../src/archive/archive.ts'
import { backUpSqlite, CLEARED } from '../../src/archive/sqlite-backup.ts'
import { writeArchive } from '../../src/archive/write.ts'
import { NotConfigured } from '../../src/model/faults.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { claim } from '../contract/keys/claim.ts'
import { addOwner } from '../fixtures/service.ts'
import { change, filledFile, files, hashOf, idOf, leaveOld, rows, rowsOf } from './files.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'

test('an archive of a served file has what lasts, in one file of its owner', async (t) => {
  const { path, target, folder, serve, backUp } = files(t)
  await serve(async (store) => {
    const server = { name: 'Survival', address: 'play.example.com' }
    const { key, user } = await addOwner(store, 'ada@example.com', [server])
    await recordsOf(store).setPassword(user.id, 'hash', operatorAt(presentInstant()))
    const times = { startedAt: presentInstant(), expiresAt: 2 * presentInstant() }
    const session = { userId: user.id, tokenHash: 't', userAgent: '', address: '', ...times }
    await recordsOf(store).beginSession(session, 'hash', null)
    await recordsOf(store).keepSecret('setup', 'setup-code-7')
    assert.equal((await claim(store, key)).outcome, 'granted')
    const before = presentInstant()
    const { made_at, ...facts } = await backUp()
    assert.deepEqual(facts, {
      users: 1,
      servers: 1,
      api_keys: 1,
      active_api_keys: 1,
      broken: [],
      is_partial: false,
    })
    assert.ok(made_at !== null && made_at >= before)
    const found = rowsOf(target)
    for (const name of [...CLEARED, 'recent_claims', 'last_claims'])
      assert.deepEqual(found[name], [], name)
    const [use] = rows(path, 'SELECT api_key, claimed_at FROM recent_claims')
    assert.deepEqual(found.older_claims, [use])
    assert.deepEqual(found.last_backup, [[1, made_at]])
    const kept = rowsOf(path)
    for (const name of ['users', 'passwords', 'servers', 'api_keys', 'audit_log'])
      assert.deepEqual(found[name], kept[name], name)
    // The service goes on. A slow backup takes more than the key's second.
    assert.match((await claim(store, key)).outcome, /^(limited|granted)$/)
  })
  assert.equal(statSync(target).mode & 0o777, 0o600)
  assert.deepEqual(rows(target, 'PRAGMA journal_mode'), [['delete']])
  assert.equal(readFileSync(target).includes('setup-code-7'), false)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('backup')),
    ['backup'],
  )
})

test('the later of two last uses is in the archive, whichever table has it', async (t) => {
  const { path, target, backUp } = files(t)
  await filledFile(path, 3)
  change(
    path,
    `INSERT INTO recent_claims VALUES (1, 1, 100, 0, 1), (2, 1, 90, 0, 1);
     INSERT INTO last_claims VALUES (1, 80, 0, 1), (2, 200, 0, 1);
     INSERT INTO older_claims VALUES (1, 300), (2, 100), (3, 7)`,
  )
  await backUp()
  const lastClaims = [
    [1, 300],
    [2, 200],
    [3, 7],
  ]
  assert.deepEqual(rowsOf(target).older_claims, lastClaims)
})

test('an archive has the revocations that only the journal knows', async (t) => {
  const { path, target, backUp } = files(t)
  await filledFile(path, 2)
  writeFileSync(`${path}-revoked`, `\n2026-01-01T00:00:00.000000Z key ${hashOf(2)}\n`)
  assert.equal((await backUp()).active_api_keys, 1)
  assert.deepEqual(rows(target, 'SELECT lower(hex(key_hash)) FROM revoked_hashes'), [[hashOf(2)]])
})

test("an archive has none of another program's tables, and the database keeps them", async (t) => {
  const { path, target, backUp } = files(t)
  await filledFile(path, 1)
  await backUp()
  const { size } = statSync(target)
  change(
    path,
    `CREATE TABLE shop (id TEXT REFERENCES users (id), secret TEXT);
     INSERT INTO shop VALUES ('${idOf(1)}', 'hunter2');
     CREATE VIEW shop_names AS SELECT secret FROM shop;
     CREATE INDEX shop_servers ON servers (name);
     CREATE TRIGGER shop_added AFTER INSERT ON users BEGIN DELETE FROM shop; END;
     CREATE VIRTUAL TABLE shop_search USING fts5(text);
     INSERT INTO shop_search VALUES ('hunter2');
     CREATE TABLE shop_pictures AS SELECT zeroblob(100000)`,
  )
  await backUp()
  // Nor their pages.
  assert.equal(statSync(target).size, size)
  assert.deepEqual(rows(target, `SELECT name FROM sqlite_schema WHERE name LIKE 'shop%'`), [])
  assert.equal(readFileSync(target).includes('hunter2'), false)
  assert.deepEqual(rows(path, 'SELECT secret FROM shop'), [['hunter2']])
})

test('an archive replaces an earlier one, and removes what a killed backup has left', async (t) => {
  const { path, target, folder, backUp } = files(t)
  await filledFile(path, 1)
  await backUp()
  // No process has a number this large.
  for (const end of ['', '-journal', '-0a1b2c3d', '-0a1b2c3d-wal'])
    leaveOld(`${target}.partial-99999999${end}`)
  leaveOld(`${target}.partial-${process.ppid}`)
  // Of a process in another container, perhaps with the number of this one.
  for (const pid of [99999999, process.pid]) writeFileSync(`${target}.partial-${pid}-00000000`, 'x')
  leaveOld(`${target}.partial-99999997`, 3_500)
  // No file of ours.
  mkdirSync(`${target}.partial-99999998`)
  leaveOld(`${target}.partial-99999998/notes`)
  utimesSync(`${target}.partial-99999998`, 1, 1)
  change(path, `DELETE FROM users`)
  assert.equal((await backUp()).users, 0)
  const left = readdirSync(folder).filter((name) => name.includes('.partial-'))
  const kept = [process.ppid, 99999997, 99999998, '99999999-00000000', `${process.pid}-00000000`]
  assert.deepEqual(left.toSorted(), kept.map((end) => `backup.partial-${end}`).toSorted())
  assert.deepEqual(readdirSync(`${target}.partial-99999998`), ['notes'])
})

test('a backup removes what killed backups and restores have left beside the file and the archive', async (t) => {
  const { path, target, folder, backUp } = files(t)
  await filledFile(path, 1)
  const left = (end: string) => `${folder}/${end}`
  const removed = [
    `listing.db.before-restore-20261128T073641588000Z.partial-99999999`,
    `other.before-restore-20261128T073641588Z.partial-99999999`,
    `server-listing-20261128T073641588Z.partial-99999999-journal`,
    `backup.before-restore-20261128T073641588000Z.partial-${process.pid}`,
  ].map(left)
  const kept = [
    `listing.db.before-restore-20261128T073641588000Z`,
    `listing.db.before-restore-20261128T073641588000Z.partial-${process.ppid}`,
    `other.partial-99999999`,
    `server-listing-mine.partial-99999999`,
  ].map(left)
  for (const each of [...removed, ...kept]) leaveOld(each)
  await backUp()
  assert.deepEqual(removed.filter(existsSync), [])
  assert.deepEqual(
    kept.filter((each) => !existsSync(each)),
    [],
  )
  // Beside the database, too, if the archive goes elsewhere.
  mkdirSync(left('elsewhere'))
  leaveOld(removed[0]!)
  await backUpSqlite(path, left('elsewhere/backup'))
  assert.equal(existsSync(removed[0]!), false)
  assert.ok(existsSync(target))
})

test('an archive that cannot be written leaves the earlier one, and says why', async (t) => {
  const { path, target, folder, backUp } = files(t)
  await filledFile(path, 1)
  await backUp()
  const before = readFileSync(target)
  const refused = async (to: string, sentence: RegExp, from = path) => {
    await assert.rejects(backUpSqlite(from, to), (error: Error) => {
      assert.ok(error instanceof NotBackedUp || error instanceof NotConfigured, error.stack)
      assert.match(error.message, sentence)
      return true
    })
  }
  await refused(path, /it is the database itself/)
  await refused(`${folder}/none/backup`, /there is no folder .*none/)
  mkdirSync(`${folder}/folder`)
  await refused(`${folder}/folder`, /it is no regular file/)
  await refused(`${folder}/new`, /there is no database file/, `${folder}/missing`)
  assert.equal(existsSync(`${folder}/new`), false)
  // What can't be cleaned does not hide why.
  await refused(
    `${target}/new`,
    /^cannot back up to .*new: ENOTDIR.*open.*; there is no new backup$/,
  )
  // A damaged page in the middle of the file.
  const damaged = readFileSync(path)
  damaged.fill(0xff, 4096 * 3, 4096 * 5)
  writeFileSync(path, damaged)
  await refused(target, /cannot back up to .*backup|the database is damaged/)
  assert.deepEqual(readFileSync(target), before)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('partial')),
    [],
  )
})

test('on a full disk there is no new archive, and the earlier one stays', async (t) => {
  const { path, target, folder, backUp } = files(t)
  await filledFile(path, 1)
  await backUp()
  const before = readFileSync(target)
  await assert.rejects(writeArchive(target, fillDisk), {
    name: 'NotBackedUp',
    message: `cannot back up to ${target}: the disk is full; there is no new backup`,
  })
  assert.deepEqual(readFileSync(target), before)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('partial')),
    [],
  )
})

async function fillDisk(partial: string): Promise<void> {
  // By this number another command knows that this one still runs.
  assert.match(partial, new RegExp(`\\.partial-${process.pid}-`))
  for (const end of ['-journal', '-wal', '-shm']) writeFileSync(`${partial}${end}`, '')
  const database = new DatabaseSync(partial)
  try {
    // SQLite reports a file that may not grow as a full disk.
    database.exec('PRAGMA max_page_count = 2; CREATE TABLE a (b)')
    database.exec('INSERT INTO a VALUES (zeroblob(100000))')
  } finally {
    database.close()
  }
}
