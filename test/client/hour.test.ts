import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Seen, startScene, whileAsking } from './scene.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * Clients against the rules of the real service, for an hour of fake time.
 */

const SECOND_MS = 1_000
const HOUR_MS = 3_600 * SECOND_MS

test('alone, a client that asks without pause gets no 429 within an hour', async (t) => {
  const { time, seen, start } = await startScene(t)
  const errors = await whileAsking([start()], () => time.run(HOUR_MS, 1))
  assert.deepEqual(errors, [])
  assert.deepEqual(countsOf(seen), { 200: seen.length })
  t.diagnostic(`${seen.length} requests`)
  assert.ok(seen.length > 2_100 && seen.length < 2_500, `${seen.length} requests`)
})

test('alone, a client that watches gets no 429 within an hour and yields each change once', async (t) => {
  const { service, user, time, seen, start } = await startScene(t)
  const yielded: string[][] = []
  const stopped = new AbortController()
  const watching = (async () => {
    for await (const servers of start().watch({ signal: stopped.signal }))
      yielded.push(servers.map(({ name }) => name))
  })()
  await time.run(HOUR_MS / 2, 1)
  const entry = { name: 'Creative', address: 'two.example.com' }
  await recordsOf(service.store).saveServers(
    user.id,
    null,
    [entry],
    operatorAt(1_900_000_000_000_000),
  )
  await time.run(HOUR_MS / 2, 1)
  stopped.abort(new Error('the test is over'))
  await assert.rejects(watching, /the test is over/)
  assert.deepEqual(yielded, [['Survival'], ['Creative', 'Survival']])
  assert.deepEqual(countsOf(seen), { 200: seen.length })
  // The pause of the queue is longer than the interval of two seconds at times.
  assert.ok(seen.length > 1_700 && seen.length <= 1_801, `${seen.length} requests`)
})

test('two processes that ask without pause with one key both progress, without a storm', async (t) => {
  const { time, seen, start } = await startScene(t)
  await whileAsking([start(), start()], () => time.run(HOUR_MS, 2))
  t.diagnostic(JSON.stringify(countsOf(seen)))
  assertAllProgress(seen, 2, (text) => t.diagnostic(text))
  assert.ok(seen.length < HOUR_MS / SECOND_MS, `${seen.length} requests`)
})

function countsOf(seen: readonly Seen[]): Record<number, number> {
  const byStatus = Map.groupBy(seen, ({ status }) => status)
  return Object.fromEntries([...byStatus].map(([status, { length }]) => [status, length]))
}

/** Each process gets a listing at least every five minutes, and a fair share of them. */
function assertAllProgress(
  seen: readonly Seen[],
  processes: number,
  tell: (text: string) => void,
): void {
  const granted = seen.filter(({ status }) => status === 200)
  for (let process = 0; process < processes; process += 1) {
    const times = granted.filter((each) => each.process === process).map(({ at }) => at)
    const waits = [...times, HOUR_MS].map((at, index) => at - (times[index - 1] ?? 0))
    const longest = Math.round(Math.max(...waits) / SECOND_MS)
    tell(`process ${process}: ${times.length} listings, longest wait ${longest} s`)
    assert.ok(times.length > granted.length / processes / 2, `${times.length} listings`)
    assert.ok(longest < 300, `a wait of ${longest} s`)
  }
}
