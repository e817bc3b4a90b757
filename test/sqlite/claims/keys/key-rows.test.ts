import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  createKeyRows,
  KEY_ROW_BYTES,
  KEY_ROWS_BYTES_MAX,
} from '../../../../src/sqlite/claims/key-rows.ts'
import { openServingSqliteStore } from '../../../../src/sqlite/serving-store.ts'
import { claim } from '../../../contract/keys/claim.ts'
import { manualClock } from '../../../fixtures/clock.ts'
import { temporaryFolder } from '../../../fixtures/folder.ts'
import { addOwner } from '../../../fixtures/service.ts'
import { callWith, execElsewhere, nameOf, openClaims } from '../open-claims.ts'
import { hashOf, openKeys } from './open-keys.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { presentInstant } from '../../../../src/model/instant.ts'
import { removeUser } from '../../../../src/directory/records/removed-user.ts'
import { recordsOf } from '../../../fixtures/records.ts'

/*
 * The rows of keys stay in memory for as long as PRAGMA data_version, read within the claim's
 * transaction, proves that no other connection has changed the file.
 */

const CHANGES: [name: string, sql: string, before: string, after: string][] = [
  ['a revoked key', 'UPDATE api_keys SET revoked_at = 1', 'granted', 'revoked'],
  ['a disabled user', 'UPDATE users SET disabled_at = 1', 'granted', 'revoked'],
  ['an enabled user', 'UPDATE users SET disabled_at = NULL', 'revoked', 'granted'],
  ['a deleted key', 'DELETE FROM api_keys', 'granted', 'unknown'],
  ['a deleted user', 'DELETE FROM users', 'granted', 'unknown'],
]

for (const [name, sql, before, after] of CHANGES)
  test(`the next claim sees ${name}, by any connection or process`, async (t) => {
    for (const change of [execElsewhere, execInProcess]) {
      const { claims, path, clock, ada } = await openClaims(t)
      if (before === 'revoked') execElsewhere(path, 'UPDATE users SET disabled_at = 1')
      const outcomes = () => claims.claimBatch([callWith(ada)])?.map(nameOf)
      assert.deepEqual(outcomes(), [before])
      clock.elapse(1_000)
      assert.deepEqual(outcomes(), [before])
      clock.elapse(1_000)
      change(path, sql)
      assert.deepEqual(outcomes(), [after])
    }
  })

test('the next claim sees what the service itself changes', async (t) => {
  const store = await openServingSqliteStore(join(temporaryFolder(t), 'listing.db'), manualClock())
  t.after(() => store.close())
  const { user, key, keyId } = await addOwner(store, 'ada@example.com')
  assert.equal((await claim(store, key)).outcome, 'granted')
  assert.equal((await claim(store, key)).outcome, 'limited')
  await recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(1))
  assert.equal((await claim(store, key)).outcome, 'revoked')
  const bob = await addOwner(store, 'bob@example.com')
  assert.equal((await claim(store, bob.key)).outcome, 'granted')
  await removeUser(store.database, bob.user.id, operatorAt(presentInstant()))
  assert.equal((await claim(store, bob.key)).outcome, 'unknown')
})

test('the connection that records claims cannot change a key or a server', async (t) => {
  const { database } = await openClaims(t)
  const writes = [
    'UPDATE api_keys SET revoked_at = 1',
    "UPDATE servers SET name = ''",
    'DELETE FROM users',
    "INSERT INTO servers (id, created_by, name, host_label, updated_at) VALUES ('', '', '', '', 1)",
  ]
  for (const sql of writes) assert.throws(() => database.exec(sql), /not authorized/)
})

test('a row is read once per version of the file', async (t) => {
  const { database } = await openKeys(t, 2)
  const rows = createKeyRows(database)
  const first = rows.find(hashOf(1))
  assert.equal(first?.serial, 1)
  assert.equal(rows.find(hashOf(1)), first)
  assert.equal(rows.find(hashOf(2))?.serial, 2)
  rows.clear()
  assert.notEqual(rows.find(hashOf(1)), first)
  assert.deepEqual(rows.find(hashOf(1)), first)
})

test('an unknown key is looked up each time', async (t) => {
  const { database, add } = await openKeys(t, 0)
  const rows = createKeyRows(database)
  for (const serial of [1, 2]) {
    assert.equal(rows.find(hashOf(serial)), undefined)
    add(serial)
    assert.equal(rows.find(hashOf(serial))?.serial, serial)
  }
})

test('a row with the id of an owner longer than a UUID is not cached', async (t) => {
  const { database, add } = await openKeys(t, 0)
  add(1, 'x'.repeat(36))
  add(2, 'x'.repeat(37))
  const rows = createKeyRows(database)
  assert.equal(rows.find(hashOf(1)), rows.find(hashOf(1)))
  assert.notEqual(rows.find(hashOf(2)), rows.find(hashOf(2)))
})

test('the memory of a full cache is within its bound', async (t) => {
  const [rowsMax, count] = [16_384, 20_000]
  const { database } = await openKeys(t, count)
  const before = usedBytes()
  const rows = createKeyRows(database, rowsMax)
  for (let serial = 1; serial <= count; serial += 1) rows.find(hashOf(serial))
  const perRow = (usedBytes() - before) / rowsMax
  assert.equal(rows.find(hashOf(count))?.serial, count)
  t.diagnostic(
    `${perRow.toFixed()} bytes per row of at most ${KEY_ROW_BYTES}; at most ${KEY_ROWS_BYTES_MAX} bytes in all`,
  )
  assert.ok(perRow <= KEY_ROW_BYTES)
})

/** The memory that this process uses after a garbage collection. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Changes the file in another process. */
function execInProcess(path: string, sql: string): void {
  const script = `new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec(process.argv[2])`
  execFileSync(process.execPath, ['-e', script, path, sql])
}
