import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { createRecentClaims } from '../../../src/sqlite/claims/recent-claims.ts'
import { uuidOf } from '../../fixtures/uuid-of.ts'
import { BOOT, claimsOf, HASH, openRecent, range } from './open-recent.ts'

/*
 * Each key's last use, in memory and as the next process reads it. For compaction see
 * compaction.test.ts.
 */

test('a rolled back claim is not remembered', async (t) => {
  const { recent, stamp, record } = await openRecent(t)
  record([1], stamp(), 'ROLLBACK')
  assert.equal(recent.lastUse(1, HASH), 0)
})

test('a key of any number has its last use, from the first claim on', async (t) => {
  const { recent, stamp, advance, record } = await openRecent(t)
  // Twice the largest number so far is the first one beyond the allocated space.
  const serials = [1, 2, 3, 511, 1_022, 1_023, 5_000, 100_000]
  const expected = new Map<number, number>()
  for (const serial of serials) {
    assert.equal(recent.lastUse(serial, HASH), 0)
    advance(1)
    const now = stamp()
    record([serial], now)
    expected.set(serial, now.monotonic)
    for (const [known, monotonic] of expected) assert.equal(recent.lastUse(known, HASH), monotonic)
  }
  for (const serial of [4, 510, 1_021, 1_024, 99_999, 1_000_000])
    assert.equal(recent.lastUse(serial, HASH), 0)
})

test('a claim counts once its commit has returned', async (t) => {
  const { database, recent, stamp } = await openRecent(t)
  const now = stamp()
  const schema = Number(database.prepare('PRAGMA schema_version').get()?.schema_version)
  database.exec('BEGIN IMMEDIATE')
  recent.record(claimsOf(1), now, schema, () => {
    assert.equal(recent.lastUse(1, HASH), 0)
    assert.equal(database.prepare('SELECT count(*) AS n FROM recent_claims').get()?.n, 1)
    database.exec('COMMIT')
  })
  assert.equal(recent.lastUse(1, HASH), now.monotonic)
})

test('each claim of a batch has its own row, however many there are', async (t) => {
  const { database, stamp, record } = await openRecent(t)
  let expected: unknown[] = []
  for (const count of [1, 15, 16, 17, 256]) {
    const { claimed_at, monotonic } = stamp()
    const serials = range(expected.length + 1, expected.length + count)
    record(serials)
    const appended = serials.map((serial) => [serial, serial, claimed_at, monotonic, 1])
    expected = [...expected, ...appended]
    const rows = database.prepare(
      'SELECT number, api_key, claimed_at, monotonic, boot FROM recent_claims',
    )
    rows.setReturnArrays(true)
    assert.deepEqual(rows.all(), expected)
  }
})

test('only the newest stamps of the last second count from an earlier process', async (t) => {
  const { path, database } = await openRecent(t)
  const now = 86_400_000_000
  database.exec(`INSERT INTO boots (boot_id) VALUES ('other')`)
  for (const serial of [1, 2, 3, 4, 5]) insertKey(database, serial)
  database.exec(`
    INSERT INTO last_claims (api_key, claimed_at, monotonic, boot) VALUES
      (1, 1, ${now - 1_000_000}, 1), (2, 1, ${now - 999_999}, 1), (3, 1, ${now - 1}, 2), (4, 1, ${now - 500}, 1);
    INSERT INTO recent_claims (number, api_key, claimed_at, monotonic, boot) VALUES
      (9, 4, 7, ${now - 300}, 1), (10, 4, 8, ${now - 200}, 1), (11, 5, 9, ${now - 100}, 1);
  `)
  const again = new DatabaseSync(path)
  t.after(() => again.close())
  const recent = createRecentClaims(again, BOOT, now)
  const last = [1, 2, 3, 4, 5, 6].map((serial) => recent.lastUse(serial, HASH))
  assert.deepEqual(last, [0, now - 999_999, 0, now - 200, now - 100, 0])
  assert.equal(again.prepare('SELECT count(*) AS n FROM recent_claims').get()?.n, 0)
  const wall = again.prepare('SELECT api_key, claimed_at FROM last_claims ORDER BY api_key').all()
  assert.deepEqual(
    wall.map(({ api_key, claimed_at }) => [api_key, claimed_at]),
    [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 8],
      [5, 9],
    ],
  )
})

test('the number of a failed commit is not reused: the commit may have succeeded', async (t) => {
  const { recent, stamp, record } = await openRecent(t)
  record([1], stamp(), 'UNSURE')
  assert.equal(recent.lastUse(1, HASH), 0)
  record([1])
  assert.notEqual(recent.lastUse(1, HASH), 0)
})

test('a stamp from the future limits its key for one second only', async (t) => {
  const { path, database } = await openRecent(t)
  const now = 86_400_000_000
  insertKey(database, 1)
  database.exec(`
    INSERT INTO recent_claims (number, api_key, claimed_at, monotonic, boot) VALUES (9, 1, 7, ${now + 3_600_000_000}, 1)
  `)
  const lastUseAt = (at: number) => {
    const again = new DatabaseSync(path)
    t.after(() => again.close())
    return createRecentClaims(again, BOOT, at).lastUse(1, HASH)
  }
  assert.equal(lastUseAt(now), now)
  // A process that starts half a second later does not start the second anew.
  assert.equal(lastUseAt(now + 500_000), now)
  assert.equal(lastUseAt(now + 1_000_000), 0)
})

test('a start knows the last second of a key that was deleted before and comes back', async (t) => {
  const { path, database, stamp, record } = await openRecent(t)
  const now = stamp().monotonic
  insertKey(database, 1)
  insertKey(database, 2)
  // The trigger keeps what the wall clock says is at most a minute old.
  record([1], { claimed_at: presentInstant(), monotonic: now + 3_600_000_000 })
  record([2], { claimed_at: presentInstant(), monotonic: now })
  database.exec('DELETE FROM api_keys')
  const again = new DatabaseSync(path)
  t.after(() => again.close())
  const started = createRecentClaims(again, BOOT, now + 500_000)
  insertKey(database, 1)
  insertKey(database, 2)
  assert.deepEqual(
    [1, 2].map((serial) => started.lastUse(serial, HASH)),
    [now + 500_000, now],
  )
  const stamps = again.prepare('SELECT monotonic FROM last_claims ORDER BY api_key').all()
  assert.deepEqual(
    stamps.map(({ monotonic }) => monotonic),
    [now + 500_000, now],
  )
})

/** Inserts a key with this number; its hash starts with HASH. */
function insertKey(database: DatabaseSync, serial: number): void {
  const ada = uuidOf(0)
  database
    .prepare(`INSERT OR IGNORE INTO users (id, email, created_at) VALUES (?, 'ada@example.com', 0)`)
    .run(ada)
  const hash = HASH.with(31, serial)
  database
    .prepare(
      `INSERT INTO api_keys (serial, id, user_id, name, prefix, key_hash, created_at)
       VALUES (?, ?, ?, 'bot', '', ?, 1)`,
    )
    .run(serial, uuidOf(serial), ada, hash)
}
