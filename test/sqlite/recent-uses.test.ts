import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createRecentUses, type RecentUses, type Stamp } from '../../src/sqlite/recent-uses.ts'
import { migrateSqlite } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

/*
 * The rows of uses and their folding: whatever is cut off where, every key's last use can be read.
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

test('a use whose transaction was rolled back is not remembered', async (t) => {
  const { database, recent, stamp } = await openRecent(t)
  database.exec('BEGIN IMMEDIATE')
  recent.append(1, stamp())
  database.exec('ROLLBACK')
  recent.settle(false)
  assert.equal(recent.lastUse(1), 0)
})

test('a key of any number has its last use, from the first one on', async (t) => {
  const { database, recent, stamp, advance } = await openRecent(t)
  const serials = [1, 511, 512, 1_023, 1_024, 1_025, 5_000, 100_000]
  const expected = new Map<number, number>()
  for (const serial of serials) {
    assert.equal(recent.lastUse(serial), 0)
    advance(1)
    const now = stamp()
    database.exec('BEGIN IMMEDIATE')
    recent.append(serial, now)
    assert.equal(recent.lastUse(serial), 0)
    database.exec('COMMIT')
    recent.settle(true)
    expected.set(serial, now.monotonic)
    for (const [known, monotonic] of expected) assert.equal(recent.lastUse(known), monotonic)
  }
  for (const serial of [2, 510, 1_022, 1_026, 99_999, 1_000_000])
    assert.equal(recent.lastUse(serial), 0)
})

test('of what an earlier process recorded only the last second counts, of this boot, by the newest row', async (t) => {
  const { path, database } = await openRecent(t)
  const now = 86_400_000_000
  database.exec(`INSERT INTO boots (boot_id) VALUES ('other')`)
  database.exec(`
    INSERT INTO last_uses (api_key, used_at, monotonic, boot) VALUES
      (1, 1, ${now - 1_000_000}, 1), (2, 1, ${now - 999_999}, 1), (3, 1, ${now - 1}, 2), (4, 1, ${now - 500}, 1);
    INSERT INTO uses (number, api_key, used_at, monotonic, boot) VALUES
      (9, 4, 7, ${now - 300}, 1), (10, 4, 8, ${now - 200}, 1), (11, 5, 9, ${now - 100}, 1);
  `)
  const again = new DatabaseSync(path)
  t.after(() => again.close())
  const recent = createRecentUses(again, 1, now)
  const last = [1, 2, 3, 4, 5, 6].map((serial) => recent.lastUse(serial))
  assert.deepEqual(last, [0, now - 999_999, 0, now - 200, now - 100, 0])
  assert.equal(again.prepare('SELECT count(*) AS n FROM uses').get()?.n, 0)
  const wall = again.prepare('SELECT api_key, used_at FROM last_uses ORDER BY api_key').all()
  assert.deepEqual(
    wall.map(({ api_key, used_at }) => [api_key, used_at]),
    [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 8],
      [5, 9],
    ],
  )
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

test('the number of a commit that failed is not given again, since it may have been one all the same', async (t) => {
  const { database, recent, stamp } = await openRecent(t)
  database.exec('BEGIN IMMEDIATE')
  recent.append(1, stamp())
  database.exec('COMMIT')
  recent.settle(false)
  assert.equal(recent.lastUse(1), 0)
  database.exec('BEGIN IMMEDIATE')
  recent.append(1, stamp())
  database.exec('COMMIT')
  recent.settle(true)
  assert.notEqual(recent.lastUse(1), 0)
})

async function openRecent(t: { after(end: () => void): void }): Promise<{
  path: string
  database: DatabaseSync
  recent: RecentUses
  stamp(): Stamp
  advance(milliseconds: number): void
}> {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const database = new DatabaseSync(path)
  database.exec('PRAGMA synchronous = OFF')
  t.after(() => database.close())
  let now = 86_400_000_000
  const recent = createRecentUses(database, 1, now)
  return {
    path,
    database,
    recent,
    stamp: () => ({ used_at: now, monotonic: now }),
    advance: (milliseconds) => {
      now += milliseconds * 1000
    },
  }
}

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
