import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { hashApiKey } from '../../src/listing/api-key.ts'
import { AuthenticationFault } from '../../src/listing/faults.ts'
import type { ServingStore } from '../../src/listing/store.ts'
import { openServingSqliteStore } from '../../src/sqlite/store.ts'
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

test('in the first second after a boot of the machine a key that was never used is not too soon', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await serve(path, { ...manualClock(), monotonic: () => 999_999 }, async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await use(store, key)).outcome, 'used')
    assert.equal((await use(store, key)).outcome, 'too soon')
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

test('a use whose commit failed has spent nothing', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await serve(path, manualClock(), async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    const other = new DatabaseSync(path)
    // What a commit finds out at last: a row that refers to none.
    other.exec(`
      CREATE TABLE none (id INTEGER PRIMARY KEY);
      CREATE TABLE refers (id INTEGER REFERENCES none (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER spoil AFTER INSERT ON uses BEGIN INSERT INTO refers VALUES (1); END;
    `)
    await assert.rejects(use(store, key), AuthenticationFault)
    other.exec('DROP TRIGGER spoil')
    other.close()
    assert.equal((await use(store, key)).outcome, 'used')
    assert.equal((await use(store, key)).outcome, 'too soon')
  })
})

test('what another process remembers of a listing holds for nobody else', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = manualClock()
  const revisions: string[] = []
  let key = ''
  for (const round of [1, 2])
    await serve(path, clock, async (store) => {
      if (round === 1) key = (await addOwner(store, 'ada@example.com')).key
      const used = await store.useApiKey(hashApiKey(key), () => revisions[0] ?? null)
      assert.ok(used.outcome === 'used' && used.rows !== null)
      revisions.push(used.revision)
      clock.elapse(1_000)
    })
  assert.notEqual(revisions[0], revisions[1])
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
