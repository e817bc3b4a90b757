import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { COUNTS_SLICE, hourOf, type UsageCount } from '../../../src/model/usage-counts.ts'
import type { OpenFixture, StoreFixture } from '../fixture.ts'
import { usageCounts } from '../../../src/keys/records/usage-counts.ts'

/** The first slot of an hour. */
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
    await usageCounts(store.counting).addUsageCounts([
      count(a, SLOT),
      count(a, SLOT + 1),
      count(b, SLOT),
    ])
    await usageCounts(store.counting).addUsageCounts([count(a, SLOT, 2)])
    assert.deepEqual(await list(store, [a]), [count(a, SLOT, 3), count(a, SLOT + 1)])
    assert.deepEqual(await list(store, [b]), [count(b, SLOT)])
    assert.equal((await list(store, [a, b])).length, 3)
  })

  test('an empty list of counts changes nothing; no keys have no counts', async (t) => {
    const { store } = await open(t)
    await usageCounts(store.counting).addUsageCounts([])
    assert.deepEqual(await usageCounts(store.database).listUsageCounts([randomUUID()], 0), [])
    assert.deepEqual(await usageCounts(store.database).listUsageCounts([], 0), [])
  })

  test('counts are listed from a time slot on', async (t) => {
    const { store } = await open(t)
    const a = randomUUID()
    // The last one is from a clock that was far ahead.
    const slots = [SLOT - 1, SLOT, SLOT + 1, 100_000_000]
    await usageCounts(store.counting).addUsageCounts(slots.map((slot) => count(a, slot)))
    assert.deepEqual(
      (await list(store, [a], SLOT)).map(({ slot }) => slot),
      slots.slice(1),
    )
  })

  test('a list from before the first time slot contains the first one', async (t) => {
    const { store } = await open(t)
    const a = randomUUID()
    await usageCounts(store.counting).addUsageCounts([count(a, SLOT), count(a, SLOT + 2)])
    assert.deepEqual(await list(store, [a], 0), [count(a, SLOT), count(a, SLOT + 2)])
  })

  test('counts before a time slot are deleted one slice per call', async (t) => {
    const { store } = await open(t)
    const old = Array.from({ length: COUNTS_SLICE }, () => count(randomUUID(), SLOT - 1))
    const kept = count(randomUUID(), SLOT)
    await usageCounts(store.counting).addUsageCounts(old)
    await usageCounts(store.counting).addUsageCounts([kept, count(randomUUID(), SLOT - 2)])
    assert.equal(await usageCounts(store.counting).dropUsageCounts(SLOT), true)
    const ids = [...old, kept].map(({ api_key_id }) => api_key_id)
    assert.ok((await list(store, ids)).length <= 2)
    assert.equal(await usageCounts(store.counting).dropUsageCounts(SLOT), false)
    assert.deepEqual(await list(store, ids), [kept])
  })

  test('an older hour has its counts in one row, with the same sums after each step', async (t) => {
    const { store } = await open(t)
    const ids = Array.from({ length: 80 }, () => randomUUID())
    const slots = [SLOT - 12, SLOT - 7, SLOT - 6, SLOT - 5, SLOT - 1, SLOT, SLOT + 1]
    for (const slot of slots)
      await usageCounts(store.counting).addUsageCounts(ids.map((id) => count(id, slot, slot % 7)))
    const before = sumsByHour(await list(store, ids))
    let steps = 0
    for (let hasMore = true; hasMore; steps += 1) {
      hasMore = await usageCounts(store.counting).rollUpUsageCounts(SLOT)
      assert.deepEqual(sumsByHour(await list(store, ids)), before)
    }
    assert.ok(steps > 1)
    const left = new Set((await list(store, ids)).map(({ slot }) => slot))
    assert.deepEqual(left, new Set([SLOT - 12, SLOT - 6, SLOT, SLOT + 1]))
    assert.equal(await usageCounts(store.counting).rollUpUsageCounts(SLOT), false)
    // A process that could not write for days adds to what is rolled up.
    await usageCounts(store.counting).addUsageCounts([count(ids[0]!, SLOT - 4)])
    const late = sumsByHour(await list(store, ids))
    while (await usageCounts(store.counting).rollUpUsageCounts(SLOT));
    assert.deepEqual(sumsByHour(await list(store, ids)), late)
    assert.equal((await list(store, ids)).length, 80 * 4)
  })

  test('services that roll up and count at once lose no count and do not deadlock', async (t) => {
    const { store } = await open(t)
    const ids = Array.from({ length: 50 }, () => randomUUID()).toSorted()
    const slots = [SLOT - 6, SLOT - 5, SLOT - 4, SLOT - 3, SLOT - 2, SLOT - 1]
    for (const slot of slots)
      await usageCounts(store.counting).addUsageCounts(ids.map((id) => count(id, slot)))
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        if (index % 3 === 0)
          await usageCounts(store.counting).addUsageCounts(ids.map((id) => count(id, SLOT + index)))
        else while (await usageCounts(store.counting).rollUpUsageCounts(SLOT));
      }),
    )
    while (await usageCounts(store.counting).rollUpUsageCounts(SLOT));
    const counts = await list(store, ids)
    const hour = ids.map((id) => count(id, SLOT - 6, 6))
    assert.deepEqual(new Set(counts.filter(({ slot }) => slot < SLOT)), new Set(hour))
    assert.equal(counts.length, 50 * 5)
  })

  test('services that count the same keys at once lose no count and do not deadlock', async (t) => {
    const { store } = await open(t)
    const ids = Array.from({ length: 40 }, () => randomUUID())
    const counts = ids.map((id) => count(id, SLOT))
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        usageCounts(store.counting).addUsageCounts(index % 2 === 0 ? counts : counts.toReversed()),
      ),
    )
    const expected = ids.map((id) => count(id, SLOT, 20))
    assert.deepEqual(new Set(await list(store, ids)), new Set(expected))
  })
}

/** The sums of each key and hour, in the order of both. */
function sumsByHour(counts: readonly UsageCount[]): string[] {
  const byHour = Map.groupBy(counts, ({ api_key_id, slot }) => `${api_key_id} ${hourOf(slot)}`)
  return [...byHour]
    .map(([hour, all]) => `${hour} ${all.map(({ answered }) => answered).reduce((a, b) => a + b)}`)
    .toSorted()
}

async function list(
  store: StoreFixture['store'],
  ids: readonly string[],
  fromSlot = 0,
): Promise<UsageCount[]> {
  const found = await usageCounts(store.database).listUsageCounts(ids, fromSlot)
  return found.map((one) => ({ ...one })).toSorted((a, b) => a.slot - b.slot)
}
