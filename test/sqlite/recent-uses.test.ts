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
