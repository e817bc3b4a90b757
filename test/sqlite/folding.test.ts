import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Stamp } from '../../src/sqlite/recent-uses.ts'
import { openRecent } from './open-recent.ts'

/*
 * The folding of uses into one row a key: whatever is cut off where, every key's last use can be read.
 */

test('folding moves every use to its key, forgets none of the last second, and leaves few rows', async (t) => {
  const { database, recent, stamp, advance } = await openRecent(t)
  const keys = 1_000
  let appended = 0
  // Three generations and a bit, in batches, each followed by a step as in the service.
  while (appended < 110_000) {
    database.exec('BEGIN IMMEDIATE')
    for (let index = 0; index < 200; index += 1) {
      recent.append((appended % keys) + 1, stamp())
      appended += 1
    }
    database.exec('COMMIT')
    recent.settle(true)
    recent.foldStep()
    advance(10)
  }
  const rows = Number(database.prepare('SELECT count(*) AS rows FROM uses').get()?.rows)
  assert.ok(rows < 70_000, `${rows} rows are left`)
  const folded = Number(database.prepare('SELECT count(*) AS rows FROM last_uses').get()?.rows)
  assert.equal(folded, keys)
  const stored = lastUses(database)
  for (let serial = 1; serial <= keys; serial += 1)
    assert.equal(recent.lastUse(serial), stored.get(serial))
})

test('a process that ends in the middle of folding leaves every last use readable', async (t) => {
  const { path, database, recent, stamp, advance } = await openRecent(t)
  for (let batch = 0; batch < 400; batch += 1) {
    database.exec('BEGIN IMMEDIATE')
    for (let index = 0; index < 100; index += 1)
      recent.append(((batch * 7 + index) % 3_000) + 1, stamp())
    database.exec('COMMIT')
    recent.settle(true)
    advance(10)
  }
  const expected = lastUses(database)
  assert.equal(expected.size, 2_893)
  for (let step = 0; step < 40; step += 1) {
    recent.foldStep()
    const again = new DatabaseSync(path)
    assert.deepEqual(lastUses(again), expected)
    again.close()
  }
})

test('folding begins with the 32,768th row, and not before; each of its steps is a small one', async (t) => {
  const { database, recent, stamp } = await openRecent(t)
  const count = (table: string) =>
    Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n)
  const append = (from: number, to: number) => {
    database.exec('BEGIN IMMEDIATE')
    for (let serial = from; serial <= to; serial += 1) recent.append(serial, stamp())
    database.exec('COMMIT')
    recent.settle(true)
  }
  append(1, 32_767)
  recent.foldStep()
  assert.deepEqual([count('uses'), count('last_uses')], [32_767, 0])
  append(32_768, 32_768)
  recent.foldStep()
  assert.deepEqual([count('uses'), count('last_uses')], [32_768, 512])
  // What comes while it folds is left for the next time.
  append(1, 10)
  for (let step = 0; step < 63; step += 1) recent.foldStep()
  assert.deepEqual([count('uses'), count('last_uses')], [32_778, 32_768])
  recent.foldStep()
  assert.deepEqual([count('uses'), count('last_uses')], [30_730, 32_768])
  for (let step = 0; step < 20; step += 1) recent.foldStep()
  assert.deepEqual([count('uses'), count('last_uses')], [10, 32_768])
})

test('a folding begins once the one before is done, and what came meanwhile is folded by it', async (t) => {
  const { database, recent } = await openRecent(t)
  const expected = new Map<number, Stamp>()
  let uses = 0
  const append = (count: number, keys: number) => {
    database.exec('BEGIN IMMEDIATE')
    for (let index = 0; index < count; index += 1) {
      uses += 1
      const serial = 1 + (index % keys)
      const stamp = { used_at: 1_800_000_000_000_000 + uses, monotonic: uses }
      recent.append(serial, stamp)
      expected.set(serial, stamp)
    }
    database.exec('COMMIT')
    recent.settle(true)
  }
  const step = (times: number) => {
    for (let taken = 0; taken < times; taken += 1) recent.foldStep()
  }
  append(32_768, 32_768)
  step(1)
  append(32_768, 1_000)
  // To the end of the folding, and a step into the removing of its rows.
  step(64)
  append(1, 1)
  step(200)
  assert.equal(database.prepare('SELECT count(*) AS n FROM uses').get()?.n, 0)
  const folded = database.prepare('SELECT api_key, used_at, monotonic FROM last_uses').all()
  assert.equal(folded.length, expected.size)
  for (const { api_key, ...stamp } of folded)
    assert.deepEqual(stamp, expected.get(Number(api_key)), `key ${Number(api_key)}`)
})

test('where there is nothing to fold a step asks for no lock', async (t) => {
  const { path, recent } = await openRecent(t)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  recent.foldStep()
})

/** By key, the monotonic stamp of its last use, as the next process would read it from the tables. */
function lastUses(database: DatabaseSync): Map<unknown, unknown> {
  const rows = database.prepare(`
    SELECT api_key, monotonic FROM last_uses WHERE api_key NOT IN (SELECT api_key FROM uses)
    UNION ALL
    SELECT api_key, monotonic FROM (SELECT api_key, monotonic, max(number) FROM uses GROUP BY api_key)
    ORDER BY api_key
  `)
  return new Map(rows.all().map(({ api_key, monotonic }) => [api_key, monotonic]))
}
