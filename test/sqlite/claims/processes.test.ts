import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { AuthenticationFault } from '../../../src/model/faults.ts'
import type { ServingStore } from '../../../src/database/store.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { claim } from '../../contract/keys/claim.ts'
import { holding } from '../../fixtures/listings.ts'
import { type ManualClock, manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'

test('the next process of the same boot remembers a claim', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = manualClock()
  const key = await serve(path, clock, async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await claim(store, key)).outcome, 'granted')
    return key
  })
  clock.elapse(999)
  await serve(path, clock, async (store) => {
    assert.equal((await claim(store, key)).outcome, 'limited')
    clock.elapse(1)
    assert.equal((await claim(store, key)).outcome, 'granted')
  })
})

test('after a reboot the service waits one second and ignores older stamps', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const key = await serve(path, manualClock('first boot'), async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await claim(store, key)).outcome, 'granted')
    return key
  })
  const start = performance.now()
  await serve(path, manualClock('second boot'), async (store) => {
    assert.ok(performance.now() - start >= 1_000)
    assert.equal((await claim(store, key)).outcome, 'granted')
  })
})

test('a key without a last use is granted even in the first second after a reboot', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await serve(path, { ...manualClock(), monotonic: () => 999_999 }, async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await claim(store, key)).outcome, 'granted')
    assert.equal((await claim(store, key)).outcome, 'limited')
  })
})

test('a wall clock that is set back or forward decides nothing', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = manualClock()
  let wall = 1_800_000_000_000_000
  await serve(path, { ...clock, present: () => wall }, async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await claim(store, key)).outcome, 'granted')
    wall += 3_600_000_000
    assert.equal((await claim(store, key)).outcome, 'limited')
    wall -= 7_200_000_000
    clock.elapse(1_000)
    assert.equal((await claim(store, key)).outcome, 'granted')
  })
})

test('without a boot id, one second passes between the claims of two processes', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = { ...manualClock(), bootId: null }
  const key = await serve(path, clock, async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    assert.equal((await claim(store, key)).outcome, 'granted')
    return key
  })
  const start = performance.now()
  await serve(path, clock, async (store) => {
    assert.equal((await claim(store, key)).outcome, 'granted')
  })
  assert.ok(performance.now() - start >= 1_000)
})

test('a claim whose commit failed does not limit the next one', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await serve(path, manualClock(), async (store) => {
    const { key } = await addOwner(store, 'ada@example.com')
    const other = new DatabaseSync(path)
    // A foreign key that fails only at the commit.
    other.exec(`
      CREATE TABLE none (id INTEGER PRIMARY KEY);
      CREATE TABLE refers (id INTEGER REFERENCES none (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER fail_commit AFTER INSERT ON recent_claims BEGIN INSERT INTO refers VALUES (1); END;
    `)
    await assert.rejects(claim(store, key), AuthenticationFault)
    other.exec('DROP TRIGGER fail_commit')
    other.close()
    assert.equal((await claim(store, key)).outcome, 'granted')
    assert.equal((await claim(store, key)).outcome, 'limited')
  })
})

test('a revision that another process has cached is not valid in this one', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = manualClock()
  const revisions: string[] = []
  let key = ''
  for (const round of [1, 2])
    await serve(path, clock, async (store) => {
      if (round === 1) key = (await addOwner(store, 'ada@example.com')).key
      const used = await store.claim(hashApiKey(key), holding(revisions[0] ?? null))
      assert.ok(used.outcome === 'granted' && used.rows !== null)
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
