import assert from 'node:assert/strict'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServingStore } from '../../../src/database/store.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { claim } from '../../contract/keys/claim.ts'
import { type ManualClock, manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'
import { execElsewhere } from '../claims/open-claims.ts'
import { BOOT, openRecent, range } from '../claims/open-recent.ts'

/*
 * A backup is restored into the served file with SQLite's backup interface, in one transaction, as
 * the `.restore` of SQLite's command line does.
 */

test('no request fails after a backup is restored into the served file', async (t) => {
  const { path, clock, serve } = files(t)
  const key = await serve(async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    for (let count = 0; count < 40; count += 1) {
      assert.equal((await claim(store, key)).outcome, 'granted')
      clock.elapse(1_000)
    }
    await copyFile(path, `${path}.backup`)
    return key
  })
  // A new process numbers its claims from one again, and the backup has these numbers.
  await serve(async (store) => {
    assert.equal((await claim(store, key)).outcome, 'granted')
    await copyFile(`${path}.backup`, path)
    assert.equal((await claim(store, key)).outcome, 'limited')
    for (let count = 0; count < 40; count += 1) {
      clock.elapse(1_000)
      assert.equal((await claim(store, key)).outcome, 'granted')
    }
  })
})

test('a key that reuses the number of a key from before a restore has no last use', async (t) => {
  const { path, clock, serve } = files(t)
  await serve(async (store) => {
    await copyFile(path, `${path}.backup`)
    const first = await addOwner(store, 'ada@example.com')
    assert.equal((await claim(store, first.key)).outcome, 'granted')
    await copyFile(`${path}.backup`, path)
    assert.equal((await claim(store, first.key)).outcome, 'unknown')
    const second = await addOwner(store, 'ada@example.com')
    assert.deepEqual(serialsOf(path), [1])
    // The restore took the last claim back, so claims wait for the end of its second.
    let isDecided = false
    const waiting = claim(store, second.key).finally(() => (isDecided = true))
    await pause(20)
    assert.ok(!isDecided)
    clock.elapse(1_000)
    assert.equal((await waiting).outcome, 'granted')
    assert.equal((await claim(store, second.key)).outcome, 'limited')
    clock.elapse(1_000)
    assert.equal((await claim(store, second.key)).outcome, 'granted')
  })
})

test('a restore after a restart keeps the last second of a key that had another number', async (t) => {
  const { path, clock, serve } = files(t)
  const ada = await serve(async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    await copyFile(path, `${path}.backup`)
    execElsewhere(
      path,
      `CREATE TEMP TABLE kept AS SELECT * FROM api_keys; UPDATE kept SET serial = 8;
       DELETE FROM api_keys; INSERT INTO api_keys SELECT * FROM kept`,
    )
    assert.deepEqual(serialsOf(path), [8])
    assert.equal((await claim(store, key)).outcome, 'granted')
    return key
  })
  await serve(async (store) => {
    clock.elapse(500)
    await copyFile(`${path}.backup`, path)
    assert.deepEqual(serialsOf(path), [1])
    let isDecided = false
    const waiting = claim(store, ada).finally(() => (isDecided = true))
    await pause(20)
    assert.ok(!isDecided)
    clock.elapse(500)
    assert.equal((await waiting).outcome, 'granted')
  })
})

test('compaction after a restore keeps the restored claims and the new ones', async (t) => {
  const { path, database, recent, advance, record } = await openRecent(t)
  const append = (from: number, to: number) => record(range(from, to))
  const keysIn = (table: string) =>
    database
      .prepare(`SELECT api_key FROM ${table} ORDER BY api_key`)
      .all()
      .map((row) => row.api_key)
  append(1, 10)
  await copyFile(path, `${path}.backup`)
  // Enough rows to start a compaction, and half of it.
  append(1, 32_768)
  for (let step = 0; step < 30; step += 1) recent.compactStep()
  append(40_000, 40_009)
  await copyFile(`${path}.backup`, path)
  // The rows of the backup stay until a batch takes them over.
  for (let step = 0; step < 100; step += 1) recent.compactStep()
  assert.deepEqual([keysIn('recent_claims').length, keysIn('last_claims').length], [10, 0])
  advance(1_000)
  append(11, 12)
  assert.deepEqual(keysIn('recent_claims'), [11, 12])
  assert.deepEqual(keysIn('last_claims'), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  // The compaction before the restore is over, and the next one starts with these rows.
  recent.compactStep()
  assert.deepEqual(keysIn('recent_claims'), [11, 12])
  append(1, 32_766)
  for (let step = 0; step < 100; step += 1) recent.compactStep()
  assert.deepEqual([keysIn('recent_claims').length, keysIn('last_claims').length], [0, 32_766])
})

test('a restore that keeps the last claim, or another change of the schema, delays none', async (t) => {
  const { path, serve } = files(t)
  await serve(async (store) => {
    const [ada, bob, eve] = await Promise.all(
      ['ada', 'bob', 'eve'].map((name) => addOwner(store, `${name}@example.com`)),
    )
    assert.equal((await claim(store, ada!.key)).outcome, 'granted')
    await copyFile(path, `${path}.backup`)
    await copyFile(`${path}.backup`, path)
    assert.equal((await claim(store, bob!.key)).outcome, 'granted')
    const other = new DatabaseSync(path)
    other.exec('CREATE TABLE changed (id)')
    other.close()
    assert.equal((await claim(store, eve!.key)).outcome, 'granted')
    for (const { key } of [ada!, bob!, eve!])
      assert.equal((await claim(store, key)).outcome, 'limited')
  })
})

test('after a restore and a failed batch, a claim is recorded under this boot', async (t) => {
  const { path, database, stamp, record } = await openRecent(t)
  await copyFile(path, `${path}.backup`)
  const other = new DatabaseSync(`${path}.backup`)
  other.exec(`DELETE FROM boots; INSERT INTO boots (boot_id) VALUES ('another machine')`)
  other.close()
  await copyFile(`${path}.backup`, path)
  for (const end of ['ROLLBACK', 'COMMIT'] as const) record([1], stamp(), end)
  const boots = database
    .prepare('SELECT boot_id FROM recent_claims JOIN boots ON boots.number = boot')
    .all()
  assert.deepEqual(
    boots.map(({ boot_id }) => boot_id),
    [BOOT],
  )
})

/** Copies a whole database into a file that other connections have open. */
async function copyFile(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from)
  await backup(source, to)
  source.close()
}

function serialsOf(path: string): unknown[] {
  const database = new DatabaseSync(path)
  const rows = database.prepare('SELECT serial FROM api_keys').all()
  database.close()
  return rows.map(({ serial }) => serial)
}

function files(t: TestContext): {
  path: string
  clock: ManualClock
  serve<T>(body: (store: ServingStore) => Promise<T>): Promise<T>
} {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = manualClock()
  return {
    path,
    clock,
    async serve(body) {
      const store = await openServingSqliteStore(path, clock)
      try {
        return await body(store)
      } finally {
        await store.close()
      }
    },
  }
}
