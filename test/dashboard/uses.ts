import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUseCounter, type UseCounter } from '../../src/dashboard/count-uses.ts'
import { slotOf } from '../../src/listing/use-counts.ts'
import { type OpenDatabase, startDashboard } from '../fixtures/dashboard.ts'
import { ask } from '../fixtures/requests.ts'

const NOW = 1_800_000_000_000_000

/** The pictures of how keys were used. */
export function usePages(open: OpenDatabase): void {
  test('200s, 429s and the 401s of a deleted key are counted for their key and no other', async (t) => {
    const { signedIn, apiPort } = await startDashboard(t, open)
    const { person } = await signedIn('ada@example.com')
    const { person: bob } = await signedIn('bob@example.com')
    const key = await person.issue('bot')
    await bob.issue('his')
    for (let index = 0; index < 4; index += 1) await ask(apiPort, { key })
    await ask(apiPort, { key: `${key}0` })
    const { body } = await person.get('/dashboard/api')
    assert.match(body, /aria-label="Requests in the last 24 hours: 1 answered \(200\), 3 too soon/)
    assert.match(body, /<path class="limited" d="M0 36V36h286V\d+h2V36z"/)
    assert.match((await bob.get('/dashboard/api')).body, /No requests in the last 24 hours/)

    await person.post('/dashboard/api/leaked', { leaked: key })
    await ask(apiPort, { key })
    await ask(apiPort, { key })
    assert.match(
      (await person.get('/dashboard/api')).body,
      /24 hours: 1 answered \(200\), 3 too soon \(429\), 2 refused as deleted/,
    )
  })

  test('counts are written in slices, added up, and dropped after two days', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    await person.issue('bot')
    const [apiKey] = await store.listApiKeys(user.id)
    const faults: unknown[] = []
    let now = NOW
    const counter = createUseCounter(
      store,
      (fault) => faults.push(fault),
      () => now,
    )
    t.after(() => counter.close())
    const others = Array.from({ length: 450 }, (_, index) => idOf(index))
    const observe = (apiKeyId: string, status: number) =>
      counter.observe({
        kind: 'answered',
        method: 'GET',
        route: '/v1/servers',
        status,
        milliseconds: 1,
        apiKeyId,
      })
    for (const id of [...others, apiKey!.id]) observe(id, 200)
    await counter.write()
    for (const status of [200, 429, 429, 401, 502]) observe(apiKey!.id, status)
    assert.equal(counter.unwritten([apiKey!.id])[0]?.limited, 2)
    await counter.write()
    assert.deepEqual(counter.unwritten([apiKey!.id]), [])
    const slot = slotOf(NOW)
    const counts = await store.listUseCounts([apiKey!.id], slot)
    assert.deepEqual(
      counts.map((count) => ({ ...count })),
      [{ api_key_id: apiKey!.id, slot, answered: 2, limited: 2, revoked: 1 }],
    )
    now += 49 * 3_600_000_000
    await counter.write()
    assert.deepEqual(await store.listUseCounts([apiKey!.id], 0), [])
    assert.deepEqual(faults, [])
  })

  test('after a slice that failed the ones behind it are written the next time', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    await person.issue('bot')
    const [apiKey] = await store.listApiKeys(user.id)
    const faults: unknown[] = []
    let now = Number.NaN
    const counter = createUseCounter(
      store,
      (fault) => faults.push(fault),
      () => now,
    )
    t.after(() => counter.close())
    // In the first of two slices, a slot that no database takes.
    observeOnce(counter, idOf(0))
    now = NOW
    for (let index = 1; index <= 220; index += 1) observeOnce(counter, idOf(index))
    observeOnce(counter, apiKey!.id)
    await counter.write()
    assert.equal(faults.length, 1)
    assert.equal(counter.unwritten([apiKey!.id])[0]?.answered, 1)
    observeOnce(counter, apiKey!.id)
    await counter.write()
    const [count] = await store.listUseCounts([apiKey!.id], slotOf(NOW))
    assert.equal(count?.answered, 2)
    assert.equal(faults.length, 1)
  })
}

function observeOnce(counter: UseCounter, apiKeyId: string): void {
  const event = { kind: 'answered', method: 'GET', route: '/v1/servers', milliseconds: 1 } as const
  counter.observe({ ...event, status: 200, apiKeyId })
}

function idOf(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
}
