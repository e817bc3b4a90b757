import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { ServiceError } from '../../client/src/index.ts'
import { type Seen, startScene, whileAsking } from './scene.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * Clients against the rules of the real service, for an hour of fake time.
 */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

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

test('two processes that watch with one key both progress, with few 429', async (t) => {
  const { time, seen, start } = await startScene(t)
  const stopped = new AbortController()
  const watching = [start(), start()].map(async (client) => {
    for await (const servers of client.watch({ signal: stopped.signal }))
      assert.equal(servers.length, 1)
  })
  await time.run(HOUR_MS, 2)
  stopped.abort(new Error('the test is over'))
  for (const each of watching) await assert.rejects(each, /the test is over/)
  t.diagnostic(JSON.stringify(countsOf(seen)))
  assertAllProgress(seen, 2, (text) => t.diagnostic(text))
})

test('ten minutes of 502 take at most 25 requests, and the client goes on afterwards', async (t) => {
  const { service, time, seen, start } = await startScene(t)
  const other = new DatabaseSync(service.databasePath)
  t.after(() => other.close())
  const errors = await whileAsking([start()], async () => {
    await time.run(MINUTE_MS, 1)
    other.exec('ALTER TABLE servers RENAME TO elsewhere')
    const before = seen.length
    await time.run(10 * MINUTE_MS, 1)
    const during = seen.slice(before)
    t.diagnostic(`${during.length} requests within ten minutes`)
    assert.deepEqual(countsOf(during), { 502: during.length })
    assert.ok(during.length >= 20 && during.length <= 25, `${during.length} requests`)
    other.exec('ALTER TABLE elsewhere RENAME TO servers')
    await time.run(MINUTE_MS, 1)
    assert.equal(seen.at(-1)?.status, 200)
  })
  assert.ok(errors.length > 0)
  for (const error of errors) assert.ok(error instanceof ServiceError && error.status === 502)
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
