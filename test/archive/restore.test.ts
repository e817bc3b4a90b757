import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { TABLES } from '../../src/archive/archive.ts'
import { backUpSqlite } from '../../src/archive/sqlite-backup.ts'
import { readJournal } from '../../src/sqlite/journal/journal.ts'
import { claim } from '../contract/keys/claim.ts'
import { addOwner } from '../fixtures/service.ts'
import { change, filledFile, files, hashOf, idOf, restoreFile, rows, userSql } from './files.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'

const REVOKE = (number: number): string =>
  `UPDATE api_keys SET revoked_at = 5 WHERE key_hash = unhex('${hashOf(number)}')`

const END = (disabled: number, banned: number): string =>
  `UPDATE users SET disabled_at = nullif(id = '${idOf(disabled)}', 0), banned_at = nullif(id = '${idOf(banned)}', 0)`

/** The numbers of the users whose keys work. */
const activeIn = (path: string): unknown[] =>
  rows(
    path,
    `SELECT CAST(substr(id, -12) AS INTEGER) FROM api_keys
     WHERE revoked_at IS NULL AND disabled_at IS NULL ORDER BY 1`,
  ).flat()

test('a restore makes the tables equal to the archive, and keeps what was there', async (t) => {
  const { path, target, backUp, restore } = files(t)
  await filledFile(path, 3)
  change(
    path,
    `INSERT INTO organizations VALUES ('${idOf(9)}', 'org', 'Org');
     INSERT INTO members VALUES ('${idOf(9)}', '${idOf(1)}', 'owner', 1);
     INSERT INTO invitations VALUES ('${idOf(8)}', '${idOf(9)}', 'x@example.com', '${idOf(1)}', 1);
     INSERT INTO identities VALUES ('https://id.example.com', 's', '${idOf(2)}');
     INSERT INTO passwords VALUES ('${idOf(1)}', 'h');
     INSERT INTO audit_log VALUES ('${idOf(7)}', 1, NULL, 'a', 's', 'x');
     INSERT INTO usage_counts VALUES (1, '${idOf(1)}', 1, 2, 3)`,
  )
  await backUp()
  change(
    path,
    `DELETE FROM users WHERE id = '${idOf(1)}'`,
    userSql(4),
    `UPDATE servers SET name = 'other'; UPDATE users SET email = 'u9@example.com' WHERE id = '${idOf(3)}';
     INSERT INTO sessions VALUES ('1', '${idOf(2)}', 't', '', '', 1, 1, 2, NULL);
     INSERT INTO boots VALUES (1, 'b'); INSERT INTO secrets VALUES ('setup', 't')`,
  )
  const restored = await restore()
  const facts = { users: 3, servers: 3, api_keys: 3, active_api_keys: 3 }
  const { made_at, ...archive } = restored.archive
  assert.ok(made_at !== null)
  assert.deepEqual([archive, restored.present, restored.revoked], [facts, facts, 0])
  for (const { name, columns } of TABLES) {
    const query = `SELECT ${Object.keys(columns).join(', ')} FROM ${name} ORDER BY 1, 2`
    const found = rows(path, query)
    const entry = found.findIndex((row) => JSON.stringify(row).includes('database restored'))
    if (name === 'audit_log') found.splice(entry, 1)
    assert.deepEqual(found, rows(target, query), name)
  }
  for (const name of ['sessions', 'boots', 'secrets'])
    assert.deepEqual(rows(path, `SELECT * FROM ${name}`), [], name)
  assert.deepEqual(activeIn(restored.kept!), [2, 3, 4])
  assert.deepEqual(rows(path, 'PRAGMA integrity_check'), [['ok']])
})

test('a revoked key stays revoked after any number of restores', async (t) => {
  const { path, backUp, prepare, restore } = files(t)
  await filledFile(path, 3)
  await backUp()
  change(path, REVOKE(2))
  const { plan, close } = await prepare()
  await close()
  assert.equal(plan.revoked, 1)
  const [first, second] = [await restore(), await restore()]
  assert.deepEqual([first.revoked, second.revoked], [1, 1])
  assert.deepEqual(activeIn(path), [1, 3])
  assert.deepEqual([...readJournal(`${path}-revoked`, assert.ifError)], [[hashOf(2), 5]])
  // The triggers are there again.
  change(path, REVOKE(3))
  change(path, `UPDATE api_keys SET revoked_at = NULL`)
  assert.deepEqual(activeIn(path), [1])
})

test('a wrong restore revokes no key, and restoring what it replaced corrects it', async (t) => {
  const { folder, path, restore } = files(t)
  await filledFile(path, 3)
  const other = join(folder, 'other.db')
  await filledFile(other, 1)
  change(other, userSql(50), REVOKE(50))
  const { kept } = await restore([], other)
  assert.deepEqual(activeIn(path), [1])
  const { revoked } = await restore([], kept!)
  assert.deepEqual([activeIn(path), revoked], [[1, 2, 3], 0])
})

test('a restore brings back the keys of a deleted user, and those that were issued since', async (t) => {
  const { path, backUp, restore } = files(t)
  await filledFile(path, 2)
  await backUp()
  change(path, `DELETE FROM users WHERE id = '${idOf(1)}'`, userSql(3))
  const { kept } = await restore()
  assert.deepEqual(activeIn(path), [1, 2])
  await restore([], kept!)
  assert.deepEqual(activeIn(path), [2, 3])
  assert.equal(existsSync(`${path}-revoked`), false)
})

test('users who are disabled or banned now stay so, with their keys', async (t) => {
  const { path, backUp, restore } = files(t)
  await filledFile(path, 4)
  change(path, END(3, 4))
  await backUp()
  change(path, END(4, 2))
  await restore()
  const query = 'SELECT disabled_at, banned_at FROM users ORDER BY id'
  assert.equal(rows(path, query).join(), ',,,1,1,,1,1')
  assert.deepEqual(activeIn(path), [1])
  change(path, 'UPDATE users SET disabled_at = NULL')
  assert.deepEqual(activeIn(path), [1, 3])
})

test('the later last use of a key counts, although its serial is another one', async (t) => {
  const { folder, path, restore } = files(t)
  await filledFile(path, 2)
  change(
    path,
    'INSERT INTO recent_claims VALUES (1, 1, 500, 0, 1); INSERT INTO last_claims VALUES (2, 10, 0, 1)',
  )
  const other = join(folder, 'other.db')
  await filledFile(other, 0)
  change(other, userSql(3), userSql(2), userSql(1))
  change(other, 'INSERT INTO older_claims VALUES (3, 400), (2, 400)')
  await restore([], other)
  const lastUses = 'SELECT api_key_id, last_used_at FROM api_key_uses ORDER BY 1'
  assert.deepEqual(rows(path, lastUses), [
    [idOf(1), 500],
    [idOf(2), 400],
    [idOf(3), null],
  ])
  for (const table of ['recent_claims', 'last_claims'])
    assert.deepEqual(rows(path, `SELECT * FROM ${table}`), [])
})

test('no serial is given to a second key', async (t) => {
  const { path, backUp, restore } = files(t)
  await filledFile(path, 1)
  await backUp()
  change(path, userSql(2), userSql(3))
  await restore()
  change(path, userSql(4))
  assert.deepEqual(rows(path, 'SELECT serial FROM api_keys ORDER BY 1'), [[1], [4]])
})

test('journals and archives add to the list, also for a database that is gone', async (t) => {
  const { folder, path, target, backUp } = files(t)
  await filledFile(path, 5)
  await backUp()
  const [fresh, copied, other] = ['new.db', 'copied', 'other'].map((name) => join(folder, name))
  // The journal stayed where the lost database was.
  writeFileSync(`${fresh}-revoked`, line(1))
  writeFileSync(`${target}-revoked`, line(2))
  writeFileSync(copied!, line(3))
  change(path, REVOKE(4))
  await backUpSqlite(path, other!)
  const restored = await restoreFile(fresh!, target, [copied!, other!])
  assert.deepEqual([restored.present, restored.kept, restored.revoked], [null, null, 4])
  assert.deepEqual(activeIn(fresh!), [5])
  const journal = [...readJournal(`${fresh}-revoked`, assert.ifError).keys()]
  assert.deepEqual(journal.toSorted(), [1, 2, 3, 4].map(hashOf))
})

test('columns that another program has added keep their values', async (t) => {
  const { path, backUp, restore } = files(t)
  await filledFile(path, 2)
  await backUp()
  change(
    path,
    `ALTER TABLE servers ADD COLUMN votes INTEGER NOT NULL DEFAULT 0;
     UPDATE servers SET votes = 7, name = 'changed'; DELETE FROM servers WHERE id = '${idOf(2)}'`,
  )
  await restore()
  assert.deepEqual(rows(path, 'SELECT name, votes FROM servers ORDER BY id'), [
    ['S', 7],
    ['S', 0],
  ])
})

test('what another program writes during a restore is kept, or refused', async (t) => {
  const { folder, path, backUp, prepare } = files(t)
  await filledFile(path, 1)
  await backUp()
  const prepared = await prepare()
  t.after(prepared.close)
  const kept = () => readdirSync(folder).find((name) => /before-restore-\w+Z$/.test(name))
  const restored = prepared.apply(operatorAt(presentInstant()))
  while (kept() === undefined) await setImmediate()
  assert.throws(() => change(path, userSql(2)), /database is locked/)
  await restored
  assert.deepEqual([activeIn(path), activeIn(join(folder, kept()!))], [[1], [1]])
})

test("another program's tables and indexes stay, also beside the replaced rows", async (t) => {
  const { path, backUp, restore } = files(t)
  await filledFile(path, 2)
  change(
    path,
    `CREATE TABLE shop (user TEXT, coins INTEGER); INSERT INTO shop VALUES ('${idOf(1)}', 1);
     CREATE INDEX shop_names ON servers (name); CREATE VIEW shop_users AS SELECT id FROM users;
     CREATE TRIGGER shop_log AFTER INSERT ON shop BEGIN SELECT 1; END`,
  )
  await backUp()
  change(path, 'UPDATE shop SET coins = 2; DELETE FROM users')
  const schema = `SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2`
  const before = rows(path, schema)
  await restore()
  assert.deepEqual(rows(path, 'SELECT * FROM shop'), [[idOf(1), 2]])
  assert.deepEqual(rows(path, schema), before)
  assert.deepEqual(activeIn(path), [1, 2])
})

test('triggers and references of another program are refused by name', async (t) => {
  const { path, backUp, restore, content } = files(t)
  await filledFile(path, 1)
  await backUp()
  change(
    path,
    `CREATE TABLE shop (user TEXT REFERENCES Users (id) ON DELETE CASCADE);
     CREATE TRIGGER shop_log AFTER DELETE ON users BEGIN DELETE FROM shop; END`,
  )
  const before = content()
  await assert.rejects(restore(), {
    name: 'NotRestored',
    message: /attached the trigger shop_log on users, the foreign key of shop on users\./i,
  })
  assert.deepEqual(content(), before)
})

test('what cannot be restored changes nothing, and the message says why', async (t) => {
  const { folder, path, target, content, restore, serve, backUp } = files(t)
  await filledFile(path, 1)
  await backUp()
  await serve(async () =>
    assert.rejects(restore(), /AlreadyServed.* is being served by process \d+/),
  )
  const refused = async (sentence: RegExp, lists?: string[], from?: string) => {
    const before = content()
    await assert.rejects(restore(lists, from), sentence)
    assert.deepEqual(content(), before)
  }
  await refused(/it is the database itself/, [], path)
  await refused(/revocations from .*none: it does not exist\. Leave/, [join(folder, 'none')])
  await refused(/it does not exist/, [], join(folder, 'none'))
  await assert.rejects(restoreFile(join(folder, 'new.db'), join(folder, 'none')))
  const broken = join(folder, 'broken')
  await backUpSqlite(path, broken)
  change(broken, `PRAGMA ignore_check_constraints = 1; UPDATE users SET email = 'ADA@example.com'`)
  await assert.rejects(restoreFile(join(folder, 'new.db'), broken), /break rules of the schema/)
  assert.deepEqual(
    readdirSync(folder).filter((name) => /^new\.db(-wal|-shm)?$/.test(name)),
    [],
  )
  const damaged = readFileSync(path)
  damaged.fill(0xff, 4096 * 3, 4096 * 5)
  writeFileSync(path, damaged)
  await refused(
    /the file there is damaged, or no SQLite database\. Move it away .* leave its -revoked where it is/,
  )
  assert.deepEqual(activeIn(target), [1])
})

test('no key gets two 200s within a second of a restore', async (t) => {
  const { path, target, serve, backUp } = files(t)
  const { key } = await serve(async (store) => {
    const owner = await addOwner(store, 'ada@example.com')
    await backUp()
    return owner
  })
  const grantedAt = async () => {
    const answered = await serve((store) => claim(store, key))
    assert.equal(answered.outcome, 'granted')
    return performance.now()
  }
  const first = await grantedAt()
  await restoreFile(path, target)
  assert.ok((await grantedAt()) - first >= 1_000)

  // Elsewhere, where no process has served yet.
  const fresh = files(t)
  await restoreFile(fresh.path, target)
  const begun = performance.now()
  await fresh.serve(async (store) => assert.equal((await claim(store, key)).outcome, 'granted'))
  assert.ok(performance.now() - begun >= 1_000)
})

function line(number: number): string {
  return `\n2026-01-01T00:00:00.000000Z key ${hashOf(number)}\n`
}
