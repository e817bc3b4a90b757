import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { eventually } from '../fixtures/eventually.ts'
import { fakeTime } from './fake-time.ts'
import { clientOf, startOddService } from './odd-service.ts'
import { startScene } from './scene.ts'

/*
 * A signal ends a call in each of its phases, with the reason of the signal.
 */

const REASON = new Error('the caller is gone')

test('an aborted signal sends no request', async (t) => {
  const { seen, start } = await startScene(t)
  const signal = AbortSignal.abort(REASON)
  const client = start()
  await assert.rejects(client.listServers({ signal }), REASON)
  await assert.rejects(client.watch({ signal }).next(), REASON)
  assert.deepEqual(seen, [])
})

test('a signal ends the wait for the headers and for the body', async (t) => {
  const open: ServerResponse[] = []
  const silent = await startOddService(t, (_, response) => void open.push(response))
  const slow = await startOddService(t, (_, response) => {
    response.write('{"servers":[', () => open.push(response))
  })
  for (const baseUrl of [silent, slow]) {
    const aborting = new AbortController()
    open.length = 0
    const client = clientOf(baseUrl, fakeTime(() => undefined).clock())
    const call = client.listServers({ signal: aborting.signal })
    await eventually(async () => open.length === 1)
    aborting.abort(REASON)
    await assert.rejects(call, REASON)
    // The client closes the connection.
    await eventually(async () => open[0]!.closed)
  }
})

test('a signal ends a pause and a back-off at once, and other calls go on', async (t) => {
  const { time, seen, start } = await startScene(t)
  const clock = time.clock()
  const client = start({ clock })
  await time.until(client.listServers())
  const aborting = new AbortController()
  const aborted = client.listServers({ signal: aborting.signal })
  const kept = client.listServers()
  await eventually(async () => time.timers === 2)
  aborting.abort(REASON)
  await assert.rejects(aborted, REASON)
  assert.equal(time.now, 0)
  await time.until(kept)
  assert.equal(seen.length, 2)
})

test('after an aborted request the next one waits for the pause', async (t) => {
  const open: ServerResponse[] = []
  const times: number[] = []
  const time = fakeTime(() => undefined)
  const baseUrl = await startOddService(t, (_, response) => {
    times.push(time.now)
    if (open.push(response) === 2) response.end('{"servers":[]}')
  })
  const client = clientOf(baseUrl, time.clock())
  const aborting = new AbortController()
  const aborted = client.listServers({ signal: aborting.signal })
  await eventually(async () => open.length === 1)
  aborting.abort(REASON)
  await assert.rejects(aborted, REASON)
  await time.until(client.listServers())
  assert.ok(times[1]! - times[0]! > 1_000, String(times))
})

test('a signal ends the wait of a watch, and so does leaving the loop', async (t) => {
  const { time, seen, start } = await startScene(t)
  const aborting = new AbortController()
  const listings = start().watch({ signal: aborting.signal })
  assert.equal((await listings.next()).value?.length, 1)
  const next = listings.next()
  await eventually(async () => time.timers === 1)
  aborting.abort(REASON)
  await assert.rejects(next, REASON)
  assert.equal(time.timers, 0)
  await time.run(2_000, 0)
  for await (const servers of start().watch()) {
    assert.equal(servers.length, 1)
    break
  }
  assert.equal(time.timers, 0)
  assert.equal(seen.at(-1)?.status, 200)
})

test('calls and watches leave no listener on their signal', async (t) => {
  const { time, start } = await startScene(t)
  const aborting = new AbortController()
  const { signal } = aborting
  let listeners = 0
  t.mock.method(
    signal,
    'addEventListener',
    (...args: Parameters<EventTarget['addEventListener']>) => {
      listeners += 1
      EventTarget.prototype.addEventListener.apply(signal, args)
    },
  )
  t.mock.method(
    signal,
    'removeEventListener',
    (...args: Parameters<EventTarget['removeEventListener']>) => {
      listeners -= 1
      EventTarget.prototype.removeEventListener.apply(signal, args)
    },
  )
  const client = start()
  for (let calls = 0; calls < 5; calls += 1) await time.until(client.listServers({ signal }))
  assert.equal(listeners, 0)
})
