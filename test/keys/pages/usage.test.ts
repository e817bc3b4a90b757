import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_US, HOUR_US } from '../../../src/model/instant.ts'
import { hourOf, slotOf, type UsageCount } from '../../../src/model/usage-counts.ts'
import { createUsageCounter, type UsageCounter } from '../../../src/keys/usage/usage-counter.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { ask } from '../../fixtures/requests.ts'
import { idOf } from './counted.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { usageCounts } from '../../../src/keys/records/usage-counts.ts'

/*
 * The usage charts of keys.
 */

/** Not within the first ten minutes of an hour. */
const NOW = 1_800_000_000_000_000 + HOUR_US / 2

test('the chart counts 200s, 429s and a deleted key’s 401s for that key only', async (t) => {
  const { signedIn, apiPort } = await startDashboard(t)
  const { person } = await signedIn('ada@example.com')
  const { person: bob } = await signedIn('bob@example.com')
  const key = await person.issue('bot')
  await bob.issue('his')
  for (let index = 0; index < 4; index += 1) await ask(apiPort, { key })
  await ask(apiPort, { key: `${key}0` })
  const { body } = await person.get('/dashboard/api')
  assert.match(body, /aria-label="Requests per 10 minutes in the last 24 hours, at most 4"/)
  assert.match(body, /<b>1<\/b> answered<.*<b>3<\/b> rate-limited \(429\), 75%: <a[^>]*>slow down/)
  assert.match(body, /<path class="limited" d="M0 56V56h143V0h1V56z"/)
  assert.match(body, /<path class="answered" d="M0 56V56h143V42h1V56z"/)
  assert.match((await bob.get('/dashboard/api')).body, /No requests in the last 24 hours/)

  await person.post('/dashboard/api/leaked', { leaked: key })
  await ask(apiPort, { key })
  await ask(apiPort, { key })
  assert.match(
    (await person.get('/dashboard/api')).body,
    /Deleted, but still in use.*<b>1<\/b> answered<.*<b>3<\/b> rate-limited.*<b>2<\/b> refused after deletion \(401\)/s,
  )
})

test('counts are written in slices, rolled up after two days and deleted after 31', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  await person.issue('bot')
  const [apiKey] = await recordsOf(store).listApiKeys(user.id)
  const faults: unknown[] = []
  let now = NOW
  const counter = createUsageCounter(
    usageCounts(store.counting),
    (fault) => faults.push(fault),
    () => now,
  )
  t.after(() => counter.close())
  const others = Array.from({ length: 450 }, (_, index) => idOf(index))
  for (const id of [...others, apiKey!.id]) countOnce(counter, id)
  await counter.write()
  countOnce(counter, apiKey!.id)
  for (const outcome of ['limited', 'limited', 'revoked'] as const)
    counter.count({ outcome, apiKeyId: apiKey!.id })
  assert.equal(counter.unwritten([apiKey!.id])[0]?.limited, 2)
  await counter.write()
  assert.deepEqual(counter.unwritten([apiKey!.id]), [])
  const slot = slotOf(NOW)
  const counts = await usageCounts(store.database).listUsageCounts([apiKey!.id], slot)
  assert.deepEqual(
    counts.map((count) => ({ ...count })),
    [{ api_key_id: apiKey!.id, slot, answered: 2, limited: 2, revoked: 1 }],
  )
  now += 49 * HOUR_US
  await counter.write()
  assert.deepEqual(
    (await usageCounts(store.database).listUsageCounts([apiKey!.id], 0)).map((count) => ({
      ...count,
    })),
    [{ api_key_id: apiKey!.id, slot: hourOf(slot), answered: 2, limited: 2, revoked: 1 }],
  )
  now += 29 * DAY_US
  await counter.write()
  assert.deepEqual(await usageCounts(store.database).listUsageCounts([apiKey!.id], 0), [])
  assert.deepEqual(faults, [])
})

test('if one slice fails, the next write includes the slices after it', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  await person.issue('bot')
  const [apiKey] = await recordsOf(store).listApiKeys(user.id)
  const faults: unknown[] = []
  let now = Number.NaN
  const counter = createUsageCounter(
    usageCounts(store.counting),
    (fault) => faults.push(fault),
    () => now,
  )
  t.after(() => counter.close())
  // The first of two slices has a slot that no database accepts.
  countOnce(counter, idOf(0))
  now = NOW
  for (let index = 1; index <= 220; index += 1) countOnce(counter, idOf(index))
  countOnce(counter, apiKey!.id)
  await counter.write()
  assert.equal(faults.length, 1)
  assert.equal(counter.unwritten([apiKey!.id])[0]?.answered, 1)
  countOnce(counter, apiKey!.id)
  await counter.write()
  const [count] = await usageCounts(store.database).listUsageCounts([apiKey!.id], slotOf(NOW))
  assert.equal(count?.answered, 2)
  assert.equal(faults.length, 1)
})

test('closing the counter writes its counts', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  await person.issue('bot')
  const [apiKey] = await recordsOf(store).listApiKeys(user.id)
  const counter = createUsageCounter(usageCounts(store.counting), assert.ifError, () => NOW)
  countOnce(counter, apiKey!.id)
  await counter.close()
  const [count] = await usageCounts(store.database).listUsageCounts([apiKey!.id], slotOf(NOW))
  assert.equal(count?.answered, 1)
})

test('a second write starts after the first has ended', async (t) => {
  const { store } = await startDashboard(t)
  const written: string[] = []
  const watched = {
    dropUsageCounts: usageCounts(store.counting).dropUsageCounts,
    rollUpUsageCounts: usageCounts(store.counting).rollUpUsageCounts,
    addUsageCounts(counts: readonly UsageCount[]) {
      written.push(...counts.map(({ api_key_id }) => api_key_id))
      return usageCounts(store.counting).addUsageCounts(counts)
    },
  }
  const counter = createUsageCounter(watched, assert.ifError, () => NOW)
  // Three slices, and then one whose keys sort before them.
  for (let index = 1_000; index < 1_500; index += 1) countOnce(counter, idOf(index))
  const first = counter.write()
  while (written.length === 0) await new Promise(setImmediate)
  for (let index = 0; index < 100; index += 1) countOnce(counter, idOf(index))
  await Promise.all([first, counter.write()])
  await counter.close()
  const expected = [...range(1_000, 1_500), ...range(0, 100)].map(idOf)
  assert.deepEqual(written, expected)
})

test('the counter keeps at most 200,000 keys between two writes', (t) => {
  const nowhere = {
    addUsageCounts: async () => {},
    rollUpUsageCounts: async () => false,
    dropUsageCounts: async () => false,
  }
  const counter = createUsageCounter(nowhere, assert.ifError, () => NOW)
  t.after(() => counter.close())
  for (let index = 0; index <= 200_000; index += 1) countOnce(counter, idOf(index))
  assert.equal(counter.unwritten([idOf(199_999)]).length, 1)
  assert.equal(counter.unwritten([idOf(200_000)]).length, 0)
  countOnce(counter, idOf(0))
  assert.equal(counter.unwritten([idOf(0)])[0]?.answered, 2)
})

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

function countOnce(counter: UsageCounter, apiKeyId: string): void {
  counter.count({ outcome: 'granted', apiKeyId, userId: '', revision: '', rows: [] })
}
