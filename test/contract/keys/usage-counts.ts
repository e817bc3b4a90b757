import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { COUNTS_SLICE, SLOTS_KEPT, type UsageCount } from '../../../src/model/usage-counts.ts'
import type { OpenFixture, StoreFixture } from '../fixture.ts'

const SLOT = 3_000_000

const count = (api_key_id: string, slot: number, answered = 1): UsageCount => ({
  api_key_id,
  slot,
  answered,
  limited: 10 * answered,
  revoked: 100 * answered,
})

export function usageCountsContract(open: OpenFixture): void {
  test('counts of the same key and time slot are added; others stay separate', async (t) => {
    const { store } = await open(t)
    const [a, b] = [randomUUID(), randomUUID()]
    await store.addUsageCounts([count(a, SLOT), count(a, SLOT + 1), count(b, SLOT)])
    await store.addUsageCounts([count(a, SLOT, 2)])
    assert.deepEqual(await list(store, [a]), [count(a, SLOT, 3), count(a, SLOT + 1)])
    assert.deepEqual(await list(store, [b]), [count(b, SLOT)])
    assert.equal((await list(store, [a, b])).length, 3)
  })

  test('an empty list of counts changes nothing; no keys have no counts', async (t) => {
    const { store } = await open(t)
    await store.addUsageCounts([])
    assert.deepEqual(await store.listUsageCounts([randomUUID()], 0), [])
    assert.deepEqual(await store.listUsageCounts([], 0), [])
  })

  test('counts are listed from a time slot on', async (t) => {
    const { store } = await open(t)
    const a = randomUUID()
    const slots = [SLOT - 1, SLOT, SLOT + 1, SLOT + SLOTS_KEPT - 1]
    await store.addUsageCounts(slots.map((slot) => count(a, slot)))
    assert.deepEqual(
      (await list(store, [a], SLOT)).map(({ slot }) => slot),
      slots.slice(1),
    )
  })

  test('a list from before the first time slot contains the first one', async (t) => {
    const { store } = await open(t)
    const a = randomUUID()
    await store.addUsageCounts([count(a, SLOT), count(a, SLOT + 2)])
    assert.deepEqual(await list(store, [a], 0), [count(a, SLOT), count(a, SLOT + 2)])
  })

  test('one call writes at most COUNTS_SLICE rows', async (t) => {
    const { store } = await open(t)
    const counts = Array.from({ length: COUNTS_SLICE + 1 }, () => count(randomUUID(), SLOT))
    await store.addUsageCounts(counts)
    const ids = counts.map(({ api_key_id }) => api_key_id)
    assert.deepEqual(
      new Set((await list(store, ids)).map(({ api_key_id }) => api_key_id)),
      new Set(ids.slice(0, COUNTS_SLICE)),
    )
  })

  test('counts before a time slot are deleted one slice per call', async (t) => {
    const { store } = await open(t)
    const old = Array.from({ length: COUNTS_SLICE }, () => count(randomUUID(), SLOT - 1))
    const kept = count(randomUUID(), SLOT)
    await store.addUsageCounts(old)
    await store.addUsageCounts([kept, count(randomUUID(), SLOT - 2)])
    assert.equal(await store.dropUsageCounts(SLOT), true)
    const ids = [...old, kept].map(({ api_key_id }) => api_key_id)
    assert.ok((await list(store, ids)).length <= 2)
    assert.equal(await store.dropUsageCounts(SLOT), false)
    assert.deepEqual(await list(store, ids), [kept])
  })

  test('services that count the same keys at once lose no count and do not deadlock', async (t) => {
    const { store } = await open(t)
    const ids = Array.from({ length: 40 }, () => randomUUID())
    const counts = ids.map((id) => count(id, SLOT))
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        store.addUsageCounts(index % 2 === 0 ? counts : counts.toReversed()),
      ),
    )
    const expected = ids.map((id) => count(id, SLOT, 20))
    assert.deepEqual(new Set(await list(store, ids)), new Set(expected))
  })
}

async function list(
  store: StoreFixture['store'],
  ids: readonly string[],
  fromSlot = 0,
): Promise<UsageCount[]> {
  const found = await store.listUsageCounts(ids, fromSlot)
  return found.map((one) => ({ ...one })).toSorted((a, b) => a.slot - b.slot)
}
