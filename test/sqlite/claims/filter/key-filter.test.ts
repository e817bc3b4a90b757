import assert from 'node:assert/strict'
import { constants } from 'node:sqlite'
import { test } from 'node:test'
import { createKeyFilter, type KeyFilter } from '../../../../src/sqlite/claims/key-filter.ts'
import { copyFile, hashOf, openKeys } from './open-keys.ts'

/*
 * A clear bit answers for the database, so a complete filter must have the bit of each key. A
 * filter that may lack a key excludes nothing.
 */

/** The same ones each time, so that a count never varies. */
const UNKNOWN = Array.from({ length: 1_000 }, (_, index) => hashOf(`unknown ${index}`))

/** Of 1,000 unknown hashes. */
function countExcluded(filter: KeyFilter): number {
  return UNKNOWN.filter((keyHash) => filter.excludes(keyHash)).length
}

/** Reads until another read changes nothing, and returns the number of reads until then. */
function complete(filter: KeyFilter): number {
  for (let reads = 0; reads < 1_000; reads += 1) {
    if (countExcluded(filter) > 0) return reads
    filter.read()
  }
  return assert.fail('the filter excludes nothing')
}

function assertKnown(filter: KeyFilter, first: number, last: number): void {
  for (let serial = first; serial <= last; serial += 1)
    assert.equal(filter.excludes(hashOf(serial)), false, `key ${serial}`)
}

test('a filter excludes unknown keys once it has read all rows, 16 at a time', async (t) => {
  for (const count of [0, 1, 15, 16, 17, 300]) {
    const { database } = await openKeys(t, count)
    const filter = createKeyFilter(database)
    const reads = complete(filter)
    assert.equal(reads, Math.floor(count / 16) + 1, `${count} keys`)
    assert.ok(countExcluded(filter) >= 970)
    assertKnown(filter, 1, count)
  }
})

test('16 to 32 bits for each key exclude at least 93 of 100 unknown keys', async (t) => {
  const { database } = await openKeys(t, 2_048)
  const filter = createKeyFilter(database)
  complete(filter)
  const excluded = countExcluded(filter)
  t.diagnostic(`${excluded} of 1000 at 16 bits per key`)
  assert.ok(excluded >= 930)
  assertKnown(filter, 1, 2_048)
})

test('after a change the filter excludes nothing until it has the new rows', async (t) => {
  const { database, addRange } = await openKeys(t, 20)
  const filter = createKeyFilter(database)
  complete(filter)
  addRange(21, 40)
  filter.noticeChange()
  assert.equal(countExcluded(filter), 0)
  filter.read()
  assert.equal(countExcluded(filter), 0)
  filter.read()
  assert.ok(countExcluded(filter) > 0)
  assertKnown(filter, 1, 40)
})

test('a key that is added after others are deleted is not excluded', async (t) => {
  const { database, add } = await openKeys(t, 20)
  const filter = createKeyFilter(database)
  complete(filter)
  database.exec('DELETE FROM api_keys WHERE serial > 10')
  add(21)
  filter.noticeChange()
  assert.equal(complete(filter), 1)
  assertKnown(filter, 21, 21)
})

test('a filter with too few bits for the keys starts anew with more', async (t) => {
  const { database, addRange } = await openKeys(t, 1_000)
  const filter = createKeyFilter(database)
  complete(filter)
  for (const [first, last] of [
    [1_001, 1_025],
    [1_026, 5_000],
  ] as const) {
    addRange(first, last)
    filter.noticeChange()
    assert.ok(complete(filter) > last / 16, `reads all ${last} rows again`)
    assertKnown(filter, 1, last)
    assert.ok(countExcluded(filter) >= 930)
  }
})

test('a filter of the largest size takes further keys, and excludes fewer hashes', async (t) => {
  const { database, addRange } = await openKeys(t, 3_000)
  const filter = createKeyFilter(database, 2 ** 15)
  complete(filter)
  const before = countExcluded(filter)
  addRange(3_001, 9_000)
  filter.noticeChange()
  assert.equal(complete(filter), 6_000 / 16 + 1)
  assertKnown(filter, 1, 9_000)
  const excluded = countExcluded(filter)
  assert.ok(excluded > 0 && excluded < before, `${excluded} after ${before}`)
})

test('after a restore of other rows with the same serials the filter has those', async (t) => {
  const { path, database } = await openKeys(t, 20)
  const filter = createKeyFilter(database)
  complete(filter)
  const other = await openKeys(t, 0)
  const insert = other.database.prepare(`
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, slot)
    VALUES (?1, ?1, 'a', '', ?2, 1, 1)`)
  for (let serial = 1; serial <= 20; serial += 1) insert.run(`${serial}`, hashOf(100 + serial))
  await copyFile(other.path, path)
  filter.noticeChange()
  complete(filter)
  assertKnown(filter, 101, 120)
})

/** Statements that a rule refuses, and that give a row the hash of key 50. */
const REFUSED = {
  api_keys_added: `
    INSERT INTO api_keys (serial, id, user_id, name, prefix, key_hash, created_at, slot)
    SELECT 3, 'id', 'user', 'a', '', ?, 1, 1`,
  api_keys_changed: 'UPDATE api_keys SET key_hash = ? WHERE serial = 10',
}

for (const [rule, refused] of Object.entries(REFUSED))
  test(`a filter excludes nothing while the schema lacks ${rule}, and starts anew with it`, async (t) => {
    const { database } = await openKeys(t, 20)
    database.exec('DELETE FROM api_keys WHERE serial = 3')
    const sql = database.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(rule)?.sql
    const filter = createKeyFilter(database)
    complete(filter)
    const readsAfter = (change: string) => {
      database.exec(change)
      filter.noticeChange()
      for (let reads = 0; reads < 10; reads += 1) filter.read()
      return countExcluded(filter)
    }
    assert.equal(readsAfter(`DROP TRIGGER ${rule}`), 0)
    assert.equal(readsAfter(`UPDATE api_keys SET name = 'b'`), 0)
    database.prepare(refused).run(hashOf(50))
    assert.ok(readsAfter(String(sql)) > 0)
    assertKnown(filter, 50, 50)
  })

test('a failed read fails no claim, and the next change makes the filter read anew', async (t) => {
  const { database } = await openKeys(t, 20)
  const filter = createKeyFilter(database)
  database.setAuthorizer(() => constants.SQLITE_DENY)
  filter.read()
  database.setAuthorizer(null)
  filter.read()
  assert.equal(countExcluded(filter), 0)
  filter.noticeChange()
  assert.equal(complete(filter), 2)
  assertKnown(filter, 1, 20)
})
