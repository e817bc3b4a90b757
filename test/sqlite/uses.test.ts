import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { ServingStore } from '../../src/listing/store.ts'
import { createRecentUses, type RecentUses, type Stamp } from '../../src/sqlite/recent-uses.ts'
import { migrateSqlite, openServingSqliteStore } from '../../src/sqlite/store.ts'
import { use } from '../contract/use-api-key.ts'
import { type ManualClock, manualClock } from '../fixtures/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { addOwner } from '../fixtures/service.ts'

test('a use is remembered by the next process of the same boot', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = manualClock()
  const key = await serve(path, clock, async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await use(store, key)).outcome, 'used')
    return key
  })
  clock.elapse(999)
  await serve(path, clock, async (store) => {
    assert.equal((await use(store, key)).outcome, 'too soon')
    clock.elapse(1)
    assert.equal((await use(store, key)).outcome, 'used')
  })
})

test('after a boot of the machine no stamp of the one before is compared with the new clock', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const key = await serve(path, manualClock('first boot'), async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await use(store, key)).outcome, 'used')
    return key
  })
  await serve(path, manualClock('second boot'), async (store) => {
    assert.equal((await use(store, key)).outcome, 'used')
  })
})

test('a wall clock that is set back or forward decides nothing', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = manualClock()
  let wall = 1_800_000_000_000_000
  await serve(path, { ...clock, present: () => wall }, async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await use(store, key)).outcome, 'used')
    wall += 3_600_000_000
    assert.equal((await use(store, key)).outcome, 'too soon')
    wall -= 7_200_000_000
    clock.elapse(1_000)
    assert.equal((await use(store, key)).outcome, 'used')
  })
})

test('where the system names no boot, a second passes before the first use', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = { ...manualClock(), bootId: null }
  const start = performance.now()
  await serve(path, clock, async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await use(store, key)).outcome, 'used')
  })
  assert.ok(performance.now() - start >= 1_000)
})

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

async function serve<T>(
  path: string,
  clock: ManualClock | (ManualClock & { bootId: null }),
  body: (store: ServingStore) => Promise<T>,
): Promise<T> {
  const store = await openServingSqliteStore(path, clock)
  try {
    return await body(store)
  } finally {
    await store.close()
  }
}

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
