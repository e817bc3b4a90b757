import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Stamp } from '../../../src/sqlite/claims/stamps.ts'
import { HASH, openRecent, range } from './open-recent.ts'

/*
 * Compaction merges claims into one row per key. A crash at any step leaves each key's last use
 * readable.
 */

test("compaction keeps each key's last use and all claims of the last second", async (t) => {
  const { database, recent, advance, record } = await openRecent(t)
  const keys = 1_000
  let appended = 0
  // Slightly more than three generations, in batches with one step after each, as in the service.
  while (appended < 110_000) {
    record(range(appended, appended + 199).map((number) => (number % keys) + 1))
    appended += 200
    recent.compactStep()
    advance(10)
  }
  const rows = Number(database.prepare('SELECT count(*) AS rows FROM recent_claims').get()?.rows)
  assert.ok(rows < 70_000, `${rows} rows are left`)
  const compacted = Number(database.prepare('SELECT count(*) AS rows FROM last_claims').get()?.rows)
  assert.equal(compacted, keys)
  const stored = lastUses(database)
  for (let serial = 1; serial <= keys; serial += 1)
    assert.equal(recent.lastUse(serial, HASH), stored.get(serial))
})

test('a crash in the middle of a compaction leaves every last use readable', async (t) => {
  const { path, database, recent, advance, record } = await openRecent(t)
  for (let batch = 0; batch < 400; batch += 1) {
    record(range(0, 99).map((index) => ((batch * 7 + index) % 3_000) + 1))
    advance(10)
  }
  const expected = lastUses(database)
  assert.equal(expected.size, 2_893)
  for (let step = 0; step < 40; step += 1) {
    recent.compactStep()
    const again = new DatabaseSync(path)
    assert.deepEqual(lastUses(again), expected)
    again.close()
  }
})

test('compaction starts at 32,768 rows, and each of its steps is short', async (t) => {
  const { database, recent, record } = await openRecent(t)
  const count = (table: string) =>
    Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n)
  const append = (from: number, to: number) => record(range(from, to))
  append(1, 32_767)
  recent.compactStep()
  assert.deepEqual([count('recent_claims'), count('last_claims')], [32_767, 0])
  append(32_768, 32_768)
  recent.compactStep()
  assert.deepEqual([count('recent_claims'), count('last_claims')], [32_768, 512])
  // Rows that arrive during a compaction wait for the next one.
  append(1, 10)
  for (let step = 0; step < 63; step += 1) recent.compactStep()
  assert.deepEqual([count('recent_claims'), count('last_claims')], [32_778, 32_768])
  recent.compactStep()
  assert.deepEqual([count('recent_claims'), count('last_claims')], [30_730, 32_768])
  for (let step = 0; step < 20; step += 1) recent.compactStep()
  assert.deepEqual([count('recent_claims'), count('last_claims')], [10, 32_768])
})

test('rows that come during a compaction wait until the next one starts after it', async (t) => {
  const { database, recent, record } = await openRecent(t)
  const expected = new Map<number, Stamp>()
  let claims = 0
  const append = (count: number, keys: number) => {
    for (let first = 0; first < count; first += keys) {
      claims += 1
      const stamp = { claimed_at: 1_800_000_000_000_000 + claims, monotonic: claims }
      const serials = range(1, Math.min(keys, count - first))
      record(serials, stamp)
      for (const serial of serials) expected.set(serial, stamp)
    }
  }
  const step = (times: number) => {
    for (let taken = 0; taken < times; taken += 1) recent.compactStep()
  }
  append(32_768, 32_768)
  step(1)
  append(32_768, 1_000)
  // To the end of the keys and one step into removing the rows.
  step(64)
  append(1, 1)
  step(200)
  assert.equal(database.prepare('SELECT count(*) AS n FROM recent_claims').get()?.n, 0)
  const compacted = database.prepare('SELECT api_key, claimed_at, monotonic FROM last_claims').all()
  assert.equal(compacted.length, expected.size)
  for (const { api_key, ...stamp } of compacted)
    assert.deepEqual(stamp, expected.get(Number(api_key)), `key ${Number(api_key)}`)
})

test('a key with many claims is compacted once', async (t) => {
  const { database, recent, record } = await openRecent(t)
  for (let batch = 0; batch < 128; batch += 1) record(range(1, 256))
  const changes = () => Number(database.prepare('SELECT total_changes() AS n').get()?.n)
  const before = changes()
  recent.compactStep()
  assert.equal(changes() - before, 256)
  // The next step removes claims.
  recent.compactStep()
  assert.equal(changes() - before, 256 + 2_048)
})

test('a step takes no lock if there is nothing to compact', async (t) => {
  const { path, recent } = await openRecent(t)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  assert.doesNotThrow(() => recent.compactStep())
})

/** The monotonic stamp of each key's last use, as the next process reads it from the tables. */
function lastUses(database: DatabaseSync): Map<unknown, unknown> {
  const rows = database.prepare(`
    SELECT api_key, monotonic FROM last_claims WHERE api_key NOT IN (SELECT api_key FROM recent_claims)
    UNION ALL
    SELECT api_key, monotonic FROM (SELECT api_key, monotonic, max(number) FROM recent_claims GROUP BY api_key)
    ORDER BY api_key
  `)
  return new Map(rows.all().map(({ api_key, monotonic }) => [api_key, monotonic]))
}
