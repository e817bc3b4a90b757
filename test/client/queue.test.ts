import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import {
  RateLimitedError,
  ServerListingClient,
  ServerListingError,
  ServiceError,
} from '../../client/src/index.ts'
import { queueFor } from '../../client/src/key-queue.ts'
import { eventually } from '../fixtures/eventually.ts'
import { randomFrom } from '../fixtures/random.ts'
import { addUser, issueKey } from '../fixtures/service.ts'
import { fakeTime } from './fake-time.ts'
import { clientOf, KEY, SERVER, startOddService } from './odd-service.ts'
import { startScene } from './scene.ts'

test('clients with the same key share one queue, and calls that wait together one answer', async (t) => {
  const { key, time, seen, start } = await startScene(t)
  const clock = time.clock()
  const clients = [start({ clock }), start({ clock, apiKey: key })]
  await time.until(clients[0]!.listServers())
  // These wait for the pause after the first answer.
  const calls = Array.from({ length: 50 }, (_, index) => clients[index % 2]!.listServers())
  const answers = await time.until(Promise.all(calls))
  assert.ok(answers.every(([server]) => server?.name === 'Survival'))
  assert.deepEqual(
    seen.map(({ status }) => status),
    [200, 200],
  )
})

test('keys and APIs have queues of their own', async (t) => {
  const { service, time, seen, start } = await startScene(t)
  const clock = time.clock()
  const clients = [start({ clock }), start({ clock, baseUrl: `http://localhost:${service.port}` })]
  const { key: other } = await issueKey(service.store, await addUser(service.store, 'bob@x.org'))
  clients.push(start({ clock, apiKey: other }))
  await time.until(Promise.all(clients.map((each) => each.listServers())))
  assert.equal(seen.filter(({ at }) => at === 0).length, 3)
})

test('a call takes no answer of a request that began before it', async (t) => {
  const open: ServerResponse[] = []
  const baseUrl = await startOddService(t, (_, response) => void open.push(response))
  const answer = (index: number, name: string) =>
    open[index]!.end(JSON.stringify({ servers: [{ ...SERVER, name }] }))
  const time = fakeTime(() => undefined)
  const client = clientOf(baseUrl, time.clock())
  const first = client.listServers()
  await eventually(async () => open.length === 1)
  const second = client.listServers()
  answer(0, 'before')
  assert.equal((await first)[0]?.name, 'before')
  const done = time.until(second)
  await eventually(async () => open.length === 2)
  answer(1, 'after')
  assert.equal((await done)[0]?.name, 'after')
})

test('after failures the waits are 1, 2, 4, 8, 16 and 30 seconds, and a success ends that', async (t) => {
  const times: number[] = []
  let isFailing = true
  const time = fakeTime(() => undefined)
  const baseUrl = await startOddService(t, (_, response) => {
    times.push(time.now)
    if (isFailing) response.writeHead(503).end()
    else response.end('{"servers":[]}')
  })
  const client = clientOf(baseUrl, time.clock(), { maxTries: 8 })
  await assert.rejects(time.until(client.listServers()), ServiceError)
  const waits = times.slice(1).map((at, index) => (at - times[index]!) / 1_050)
  assert.equal(waits.length, 7)
  for (const [index, wait] of waits.entries())
    assert.ok(wait >= Math.min(2 ** index, 28.5) && wait <= 1.25 * 2 ** index, String(waits))
  isFailing = false
  await time.until(client.listServers())
  isFailing = true
  times.length = 0
  await assert.rejects(time.until(client.listServers()), ServiceError)
  assert.ok(times[1]! - times[0]! < 1_400)
})

test('the longest waits differ, so that two processes do not meet in the same second again', async (t) => {
  const times: number[] = []
  const time = fakeTime(() => undefined)
  const baseUrl = await startOddService(t, (_, response) => {
    times.push(time.now)
    response.writeHead(429).end()
  })
  const { between } = randomFrom(1)
  const options = { maxTries: 20, random: () => between(0, 1) }
  const client = clientOf(baseUrl, time.clock(), options)
  await assert.rejects(time.until(client.listServers()), RateLimitedError)
  const waits = times.slice(1).map((at, index) => at - times[index]!)
  const longest = waits.slice(5)
  assert.equal(new Set(longest).size, 14, String(longest))
  assert.ok(Math.min(...longest) >= 30_000 && Math.max(...longest) <= 37_500, String(longest))
})

test('for a minute after a 429 the pauses are twice as long', async (t) => {
  const times: number[] = []
  const time = fakeTime(() => undefined)
  const baseUrl = await startOddService(t, (_, response) => {
    times.push(time.now)
    if (times.length === 1) response.writeHead(429).end()
    else response.end('{"servers":[]}')
  })
  const client = clientOf(baseUrl, time.clock(), { maxTries: 2, random: () => 0 })
  while (time.now < 65_000) await time.until(client.listServers())
  const pauses = times.slice(2).map((at, index) => at - times[index + 1]!)
  const expected = times.slice(1, -1).map((at) => (at < 60_000 ? 2_100 : 1_050))
  assert.deepEqual(pauses.map(Math.round), expected)
})

test('an answer that is not asked again makes no later wait longer', async (t) => {
  const times: number[] = []
  const time = fakeTime(() => undefined)
  const baseUrl = await startOddService(t, (_, response) => {
    times.push(time.now)
    response.writeHead(times.length <= 3 ? 404 : 503).end()
  })
  const client = clientOf(baseUrl, time.clock(), { maxTries: 2, random: () => 0 })
  for (let calls = 0; calls < 4; calls += 1)
    await assert.rejects(time.until(client.listServers()), ServerListingError)
  const waits = times.slice(1).map((at, index) => Math.round(at - times[index]!))
  assert.deepEqual(waits, [1_050, 1_050, 1_050, 1_050])
})

test('Retry-After lengthens the wait, up to five minutes, and a date in it does not', async (t) => {
  let retryAfter = ''
  const times: number[] = []
  const time = fakeTime(() => undefined)
  const baseUrl = await startOddService(t, (_, response) => {
    times.push(time.now)
    response.writeHead(429, { 'Retry-After': retryAfter }).end()
  })
  const waits: number[] = []
  for (retryAfter of ['7', '0', '-3', '99999999', 'Fri, 31 Dec 2100 23:59:59 GMT', 'soon']) {
    times.length = 0
    const client = clientOf(baseUrl, time.clock(), { maxTries: 2 })
    await assert.rejects(time.until(client.listServers()), RateLimitedError)
    waits.push(Math.round(times[1]! - times[0]!) / 1_000)
  }
  assert.deepEqual([waits[0], waits[3]], [7, 300])
  for (const index of [1, 2, 4, 5])
    assert.ok(waits[index]! >= 1 && waits[index]! < 1.4, String(waits))
})

test('a 401 and a 404 are not asked again', async (t) => {
  for (const status of [401, 404, 302, 400]) {
    let requests = 0
    const baseUrl = await startOddService(t, (_, response) => {
      requests += 1
      response.writeHead(status).end()
    })
    const time = fakeTime(() => undefined)
    await assert.rejects(clientOf(baseUrl, time.clock(), { maxTries: 5 }).listServers())
    assert.equal(requests, 1)
  }
})

test('a request that never ends holds up others only a little longer than its time limit', async (t) => {
  const time = fakeTime(() => undefined)
  const clock = time.clock()
  const baseUrl = await startOddService(t, (_, response) => response.end('{"servers":[]}'))
  // As in a runtime that drops the fetch of a caller that is gone.
  const dropped = new Promise<Response>(() => undefined)
  const lost = clientOf(baseUrl, clock, { fetch: () => dropped, timeoutMs: 5_000 })
  lost.listServers().catch(() => undefined)
  assert.deepEqual(await time.until(clientOf(baseUrl, clock).listServers()), [])
  assert.equal(Math.round(time.now), 6_000)
})

test('a wall clock that jumps makes no request early or late', async (t) => {
  const times: number[] = []
  const baseUrl = await startOddService(t, (_, response) => {
    times.push(performance.now())
    response.end('{"servers":[]}')
  })
  const now = Date.now()
  let hours = 1
  t.mock.method(Date, 'now', () => {
    hours *= -2
    return now + hours * 3_600_000
  })
  const client = new ServerListingClient({ baseUrl, apiKey: KEY, random: () => 0 })
  for (let calls = 0; calls < 3; calls += 1) await client.listServers()
  const gaps = times.slice(1).map((at, index) => at - times[index]!)
  for (const gap of gaps) assert.ok(gap > 1_000 && gap < 60_000, String(gaps))
})

test('many keys do not stay in memory once their queues are idle', async () => {
  const time = fakeTime(() => undefined)
  const clock = time.clock()
  const queues = Array.from({ length: 64 }, (_, index) => queueFor(clock, 'url', `${index}`))
  // Idle queues go when the 65th comes, and these are new objects.
  queueFor(clock, 'url', 'one more')
  assert.notEqual(queueFor(clock, 'url', '0'), queues[0])
  const busy = queueFor(clock, 'url', 'busy')
  busy.notBefore = clock.now() + 1
  for (let index = 0; index < 200; index += 1) queueFor(clock, 'url', `later ${index}`)
  assert.equal(queueFor(clock, 'url', 'busy'), busy)
})
