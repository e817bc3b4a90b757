import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { NotFoundError, UnauthorizedError } from '../../client/src/index.ts'
import { eventually } from '../fixtures/eventually.ts'
import { fakeTime } from './fake-time.ts'
import { clientOf, KEY, SERVER, startOddService } from './odd-service.ts'
import { startScene } from './scene.ts'

/*
 * Calls that accept a recent answer.
 */

test('calls with maxAgeMs share an answer for that time, without a pause and without a request', async (t) => {
  const { time, seen, start } = await startScene(t)
  const clock = time.clock()
  const client = start({ clock })
  await time.until(client.listServers())
  for (let calls = 0; calls < 5; calls += 1) {
    // Another client with the same key, as two modules of a program may have.
    const servers = await start({ clock }).listServers({ maxAgeMs: 10_000 })
    assert.equal(servers[0]?.name, 'Survival')
  }
  assert.deepEqual([time.now, seen.length], [0, 1])

  await time.run(9_999, 0)
  await client.listServers({ maxAgeMs: 10_000 })
  assert.equal(seen.length, 1)
  await time.run(1, 0)
  await time.until(client.listServers({ maxAgeMs: 10_000 }))
  assert.equal(seen.length, 2)
  await time.until(client.listServers())
  assert.equal(seen.length, 3)
})

test('a call with maxAgeMs takes the answer of a request that is under way', async (t) => {
  const open: ServerResponse[] = []
  const baseUrl = await startOddService(t, (_, response) => void open.push(response))
  const time = fakeTime(() => undefined)
  const client = clientOf(baseUrl, time.clock())
  const first = client.listServers()
  await eventually(async () => open.length === 1)
  const second = client.listServers({ maxAgeMs: 5_000 })
  open[0]!.end(JSON.stringify({ servers: [SERVER] }))
  assert.deepEqual(await Promise.all([first, second]), [[SERVER], [SERVER]])
  assert.equal(open.length, 1)
})

test('the age counts from the beginning of the request, also of one that ends late', async (t) => {
  const open: ServerResponse[] = []
  const baseUrl = await startOddService(t, (_, response) => void open.push(response))
  const time = fakeTime(() => undefined)
  const clock = time.clock()
  const answer = (index: number, name: string) =>
    open[index]!.end(JSON.stringify({ servers: [{ ...SERVER, name }] }))
  // The time limit is longer than the time that passes before its answer.
  const slow = clientOf(baseUrl, clock, { timeoutMs: 60_000 })
  const first = slow.listServers()
  await eventually(async () => open.length === 1)
  await time.run(3_000, 1)
  answer(0, 'first')
  await first
  const second = slow.listServers({ maxAgeMs: 3_000 })
  await time.run(3_000, 1)
  await eventually(async () => open.length === 2)
  answer(1, 'second')
  assert.equal((await second)[0]?.name, 'second')
})

test('after a 401 no call takes an earlier answer, and a call that fails leaves it', async (t) => {
  let status = 200
  const baseUrl = await startOddService(t, (_, response) =>
    response.writeHead(status).end('{"servers":[]}'),
  )
  const time = fakeTime(() => undefined)
  const client = clientOf(baseUrl, time.clock())
  const recent = () => time.until(client.listServers({ maxAgeMs: 60_000 }))
  await recent()
  status = 404
  await assert.rejects(time.until(client.listServers()), NotFoundError)
  assert.deepEqual(await recent(), [])
  status = 401
  await assert.rejects(time.until(client.listServers()), UnauthorizedError)
  await assert.rejects(recent(), UnauthorizedError)
})

test('maxAgeMs must be a number of milliseconds', async () => {
  const client = clientOf('https://api.example.com', fakeTime(() => undefined).clock())
  for (const maxAgeMs of [-1, Number.NaN])
    await assert.rejects(client.listServers({ maxAgeMs }), (error: Error) => {
      assert.ok(error instanceof TypeError)
      assert.match(error.message, /maxAgeMs must be a number of milliseconds from 0/)
      assert.doesNotMatch(error.message, new RegExp(KEY))
      return true
    })
})
