import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { ServingStore } from '../../src/database/store.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { claim } from '../contract/keys/claim.ts'
import { type ManualClock, manualClock } from '../fixtures/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { addOwner, addUser, issueKey } from '../fixtures/service.ts'
import { uuidOf } from '../fixtures/uuid-of.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { removeUser } from '../../src/directory/records/removed-user.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * Rules that the schema itself enforces, whichever program writes to the file.
 */

test("deleting a user by any program deletes the user's keys, whose claims fail at once", async (t) => {
  const { store, foreign, countRows } = await openWithForeign(t)
  const { user, key } = await addOwner(store, 'ada@example.com')
  const bob = await addOwner(store, 'bob@example.com', [{ name: 'b', address: 'b.example' }])
  assert.equal((await claim(store, key)).outcome, 'granted')
  foreign.exec(`DELETE FROM users WHERE id = '${user.id}'`)
  assert.equal((await claim(store, key)).outcome, 'unknown')
  for (const table of ['users', 'api_keys']) assert.equal(countRows(table), 1, table)
  assert.equal(countRows('recent_claims'), 0)
  const used = await claim(store, bob.key)
  assert.ok(used.outcome === 'granted' && used.rows?.length === 1)
})

/** SQL for a user, and for one row of the user in each table that refers to users. */
const rowsOf = (user: string, number: number) => `
  INSERT INTO users (id, created_at, email) VALUES ('${user}', 1, '${user}@example.com');
  INSERT INTO identities VALUES ('https://id.example.com', '${number}', '${user}');
  INSERT INTO passwords VALUES ('${user}', 'hash');
  INSERT INTO sessions VALUES ('${number}', '${user}', 'token ${number}', '', '', 0, 0, 0, NULL);
  INSERT INTO sign_in_links VALUES ('${user}', 'token ${number}', 0);
  INSERT INTO organizations VALUES ('${uuidOf(number)}', 'guild-${number}', 'Guild');
  INSERT INTO members VALUES ('${uuidOf(number)}', '${user}', 'owner', 0);
  INSERT INTO invitations VALUES ('${uuidOf(number)}', '${uuidOf(number)}', 'x', '${user}', 0);
  INSERT INTO servers (id, created_by, name, host_label, updated_at)
    VALUES ('${uuidOf(number)}', '${user}', 'S', 'h', 0);
  INSERT INTO server_changes VALUES ('${number}', '${user}', 0, '', '', '', NULL);
  INSERT INTO checked_imports VALUES ('${number}', '${user}', 0, '', NULL);
  INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
    VALUES ('${uuidOf(number)}', '${user}', 'k', '', randomblob(32), 0);`

test('without foreign keys, a user keeps the id, and leaves no row that refers to it', async (t) => {
  const { foreign } = await openWithForeign(t)
  const [ada, bob] = [uuidOf(91), uuidOf(92)]
  foreign.exec(`${rowsOf(ada, 1)} ${rowsOf(bob, 2)}`)
  const found = foreign
    .prepare(
      `SELECT tables.name AS "table", keys."from" AS "column"
       FROM sqlite_schema AS tables JOIN pragma_foreign_key_list(tables.name) AS keys
       WHERE tables.type = 'table' AND keys."table" = 'users'`,
    )
    .all()
  const references = found.map(({ table, column }) => ({
    table: String(table),
    column: String(column),
  }))
  const counts = (user: string) =>
    references.map(({ table, column }) => {
      const count = `SELECT count(*) AS count FROM ${table} WHERE ${column} = ?`
      return Number(foreign.prepare(count).get(user)?.count)
    })
  const one = references.map(() => 1)
  assert.deepEqual([counts(ada), counts(bob)], [one, one])
  const renumber = `UPDATE users SET id = '${uuidOf(93)}' WHERE id = '${ada}'`
  assert.throws(() => foreign.exec(renumber), /a user keeps the id/)
  foreign.exec(`DELETE FROM users WHERE id = '${ada}'`)
  assert.deepEqual(counts(bob), one)
  const left = references.filter((_, index) => counts(ada)[index] !== 0)
  assert.deepEqual(left, [])
})

test('deleting an organization by any program deletes all that belongs to it', async (t) => {
  const { store, foreign, countRows } = await openWithForeign(t)
  const entry = { name: 'a', address: 'a.example' }
  const { user } = await addOwner(store, 'ada@example.com', [entry])
  const guild = await recordsOf(store).ensureOrganization(
    'guild',
    user.id,
    operatorAt(presentInstant()),
  )
  const clan = await recordsOf(store).ensureOrganization(
    'clan',
    user.id,
    operatorAt(presentInstant()),
  )
  for (const id of [guild, clan]) {
    await recordsOf(store).saveServers(user.id, id, [entry], operatorAt(1))
    foreign.exec(`INSERT INTO invitations
      VALUES ('${crypto.randomUUID()}', '${id}', 'eve@example.com', '${user.id}', 1)`)
  }
  foreign.exec(`DELETE FROM organizations WHERE slug = 'guild'`)
  assert.deepEqual(['members', 'invitations', 'servers'].map(countRows), [1, 1, 2])
})

test("a key's claims are deleted with it, compacted or not", async (t) => {
  const { store, clock, foreign, countRows } = await openWithForeign(t)
  const { user, key } = await addOwner(store, 'ada@example.com')
  assert.equal((await claim(store, key)).outcome, 'granted')
  clock.elapse(1_000)
  foreign.exec(`
    INSERT INTO last_claims SELECT api_key, claimed_at, monotonic, boot FROM recent_claims;
    INSERT INTO older_claims SELECT api_key, claimed_at FROM recent_claims`)
  const tables = ['recent_claims', 'last_claims', 'older_claims']
  assert.deepEqual(tables.map(countRows), [1, 1, 1])
  assert.equal(await removeUser(store.database, user.id, operatorAt(presentInstant())), true)
  assert.deepEqual(tables.map(countRows), [0, 0, 0])
})

/** Microseconds before now, as the triggers read the clock. */
const ago = (seconds: number) =>
  `(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000 - ${seconds * 1_000_000})`

/** Deletes the only key and inserts it again. Returns its number and its last claim. */
function reload(foreign: DatabaseSync): unknown {
  foreign.exec(`
    CREATE TEMP TABLE reloaded AS SELECT id, user_id, name, prefix, key_hash, created_at FROM api_keys;
    DELETE FROM api_keys;
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at) SELECT * FROM reloaded;
    DROP TABLE reloaded`)
  const key = foreign.prepare(
    'SELECT serial, monotonic, boot FROM api_keys LEFT JOIN last_claims ON api_key = serial',
  )
  return { ...key.get() }
}

test('a key that is inserted again has its number and newest claim, if that is younger than a minute', async (t) => {
  const { store, foreign } = await openWithForeign(t)
  await addOwner(store, 'ada@example.com')
  foreign.exec(`
    INSERT INTO last_claims VALUES (1, ${ago(2)}, 10, 7);
    INSERT INTO recent_claims VALUES (1, 1, ${ago(1)}, 30, 7), (2, 1, ${ago(50)}, 20, 7)`)
  // The clock was set back between the two.
  assert.deepEqual(reload(foreign), { serial: 1, monotonic: 20, boot: 7 })
  // Another claim was compacted.
  foreign.exec('UPDATE last_claims SET monotonic = 40')
  assert.deepEqual(reload(foreign), { serial: 1, monotonic: 40, boot: 7 })
  foreign.exec(`UPDATE last_claims SET claimed_at = ${ago(61)}; DELETE FROM removed_claims`)
  // Each insertion has taken a number, whether or not the key kept it.
  assert.deepEqual(reload(foreign), { serial: 4, monotonic: null, boot: null })
})

test('claims of removed keys are kept for a minute', async (t) => {
  const { store, foreign } = await openWithForeign(t)
  await addOwner(store, 'ada@example.com')
  for (const age of [50, 61])
    foreign.exec(`INSERT INTO removed_claims VALUES (randomblob(32), 9, ${ago(age)}, ${age}, 1)`)
  foreign.exec('DELETE FROM api_keys')
  const left = foreign.prepare('SELECT monotonic FROM removed_claims').all()
  assert.deepEqual(
    left.map(({ monotonic }) => monotonic),
    [50],
  )
})

test('the number of a deleted key is never reused', async (t) => {
  const { store, foreign } = await openWithForeign(t)
  const serialOf = (id: string) =>
    Number(foreign.prepare('SELECT serial FROM api_keys WHERE id = ?').get(id)?.serial)
  const { user, keyId } = await addOwner(store, 'ada@example.com')
  const first = serialOf(keyId)
  await removeUser(store.database, user.id, operatorAt(presentInstant()))
  const next = await issueKey(store, await addUser(store, 'bob@example.com'))
  assert.ok(serialOf(next.id) > first, `${serialOf(next.id)} after ${first}`)
})

/**
 * A serving store, and a connection like the one of SQLite's command line: it enforces no foreign
 * keys.
 */
async function openWithForeign(t: TestContext): Promise<{
  store: ServingStore
  clock: ManualClock
  foreign: DatabaseSync
  countRows(table: string): number
}> {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = manualClock()
  const store = await openServingSqliteStore(path, clock)
  const foreign = new DatabaseSync(path, { enableForeignKeyConstraints: false, timeout: 1_000 })
  t.after(async () => {
    foreign.close()
    await store.close()
  })
  return {
    store,
    clock,
    foreign,
    countRows: (table) =>
      Number(foreign.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.count),
  }
}
