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
import { organizations } from '../../src/organizations/records/organizations.ts'
import { invitations } from '../../src/organizations/records/invitations.ts'
import { passwords } from '../../src/accounts/records/passwords.ts'
import { serverImports } from '../../src/servers/records/server-imports.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { removeUser } from '../../src/directory/records/removed-user.ts'

/*
 * Rules that the schema itself enforces, whichever program writes to the file.
 */

test("deleting a user by any program deletes the user's keys and rows", async (t) => {
  const { store, foreign, countRows } = await openWithForeign(t)
  const { user, key } = await addOwner(store, 'ada@example.com', [
    { name: 'a', address: 'a.example' },
  ])
  const bob = await addOwner(store, 'bob@example.com', [{ name: 'b', address: 'b.example' }])
  const organization = await organizations(store.database).ensureOrganization(
    'guild',
    user.id,
    operatorAt(presentInstant()),
  )
  await invitations(store.database).invite(
    user.id,
    organization,
    'eve@example.com',
    0,
    operatorAt(1),
  )
  await passwords(store.database).setPassword(user.id, 'hash', operatorAt(presentInstant()))
  foreign.exec(`INSERT INTO sessions VALUES ('s', '${user.id}', 'token', '', '', 0, 0, 0, NULL)`)
  assert.equal((await claim(store, key)).outcome, 'granted')
  foreign.exec(`DELETE FROM users WHERE id = '${user.id}'`)
  assert.equal((await claim(store, key)).outcome, 'unknown')
  for (const table of ['sessions', 'passwords', 'members', 'invitations', 'recent_claims'])
    assert.equal(countRows(table), 0, table)
  for (const table of ['users', 'api_keys', 'servers']) assert.equal(countRows(table), 1, table)
  const used = await claim(store, bob.key)
  assert.ok(used.outcome === 'granted' && used.rows?.length === 1)
})

test('deleting an organization by any program deletes all that belongs to it', async (t) => {
  const { store, foreign, countRows } = await openWithForeign(t)
  const entry = { name: 'a', address: 'a.example' }
  const { user } = await addOwner(store, 'ada@example.com', [entry])
  const guild = await organizations(store.database).ensureOrganization(
    'guild',
    user.id,
    operatorAt(presentInstant()),
  )
  const clan = await organizations(store.database).ensureOrganization(
    'clan',
    user.id,
    operatorAt(presentInstant()),
  )
  for (const id of [guild, clan]) {
    await serverImports(store.database).saveServers(user.id, id, [entry], operatorAt(1))
    await invitations(store.database).invite(user.id, id, 'eve@example.com', 0, operatorAt(1))
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
