import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { LIMITS } from '../../src/http/limits.ts'
import { addOwner, startTestService } from '../fixtures/service.ts'
import { bare, hosted } from './corpus/case.ts'
import { listenHeld, settled } from './client/held.ts'
import { assertOutcomes, type Outcome } from './client/outcome.ts'
import { open } from './client/raw.ts'
import { once } from '../fixtures/within.ts'

/* The start and end of a connection. */

const REQUEST = hosted('GET /health HTTP/1.1')

suite('a connection', { concurrency: true }, () => {
  test('serves many requests one after another', async (t) => {
    const { port, events } = await startTestService(t)
    const client = await open(port)
    for (let count = 1; count <= 300; count += 1) {
      client.send(REQUEST)
      await client.answers(count)
    }
    client.socket.end()
    const outcomes = Array.from({ length: 300 }, (): Outcome => 'health')
    assertOutcomes(await client.untilEnd(), outcomes, false)
    assert.equal(events.length, 300)
  })

  test('serves a client that has closed its sending side', async (t) => {
    const { port, store } = await startTestService(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const client = await open(port)
    client.socket.end(hosted('GET /v1/servers HTTP/1.1', `Authorization: Bearer ${key}`) + REQUEST)
    assertOutcomes(await client.untilEnd(), ['listing', 'health'], false)
  })

  test('a slow answer reaches a client that has closed its sending side', async (t) => {
    const { port, taken, held } = await listenHeld(t)
    const client = await open(port)
    client.socket.end(REQUEST)
    await taken(1)
    await settled()
    held[0]!.answer()
    assertOutcomes(await client.untilEnd(), ['health'], false)
  })

  test('a connection that ends within a head gets a 400', async (t) => {
    const { port } = await startTestService(t)
    const halves = [
      'G',
      'GET /hea',
      'GET /health HTTP/1.1\r\nHost: x\r\n',
      'F',
      'FOO /hea',
      'FOO / HTTP/1.1\r',
    ]
    for (const half of halves) {
      const client = await open(port)
      client.socket.end(half)
      assertOutcomes(await client.untilEnd(), [400], true)
    }
  })

  test('a connection that ends without a request gets no answer', async (t) => {
    const { port, events } = await startTestService(t)
    for (const nothing of ['', '\r\n']) {
      const client = await open(port)
      client.socket.end(nothing)
      assert.deepEqual(await client.untilEnd(), [])
    }
    assert.deepEqual(events, [])
  })

  test('a connection above the maximum is closed at once, and the others are served', async (t) => {
    const { port } = await startTestService(t, { connectionsMax: 2 })
    const first = await open(port)
    const second = await open(port)
    const third = await open(port)
    assert.deepEqual(await third.untilEnd(), [])
    second.send(REQUEST)
    first.socket.end(REQUEST)
    assertOutcomes(await first.untilEnd(), ['health'], false)
    assertOutcomes(await second.answers(1), ['health'], false)
    const fourth = await open(port)
    fourth.socket.end(REQUEST)
    assertOutcomes(await fourth.untilEnd(), ['health'], false)
    second.socket.destroy()
  })

  const LENGTH = 8_000_000
  const FLOODS: Record<string, [head: string, outcome: Outcome]> = {
    'a body': [hosted('POST / HTTP/1.1', `Content-Length: ${LENGTH}`), 404],
    'the body of a CONNECT': [hosted('CONNECT x:1 HTTP/1.1', `Content-Length: ${LENGTH}`), 404],
    'what follows a CONNECT': [hosted('CONNECT x:1 HTTP/1.1'), 404],
    'the body of an unknown method': [hosted('FOO / HTTP/1.1'), 404],
    'what follows a head without Host': [bare('GET / HTTP/1.1'), 400],
    'the body of a client that says it is the last': [
      hosted('PUT / HTTP/1.1', 'Connection: close', `Content-Length: ${LENGTH}`),
      404,
    ],
    garbage: ['\0', 400],
    'a target': ['GET /', 414],
    'a value': [hosted('GET / HTTP/1.1').slice(0, -2).concat('X: '), 431],
  }
  for (const [name, [head, outcome]] of Object.entries(FLOODS))
    test(`a request is answered however much of ${name} is still to come`, async (t) => {
      const { port } = await startTestService(t, { lingerMs: 5_000 })
      const client = await open(port)
      // The client reads only after it has sent everything. An earlier reset would destroy the
      // answer.
      client.socket.pause()
      client.send(head + 'x'.repeat(LENGTH))
      while (client.socket.writableLength > 0) await once(client.socket, 'drain')
      client.socket.resume()
      assertOutcomes(await client.untilEnd(), [outcome], true)
    })

  test('input after the last answer is discarded and never becomes a request', async (t) => {
    const { port, events } = await startTestService(t, { lingerMs: 5_000 })
    const behind = hosted('GET /discarded HTTP/1.1').repeat(1_000)
    // Each case is one packet with a last request among others.
    const firsts: [string, Outcome][] = [
      [`${hosted('POST / HTTP/1.1', 'Content-Length: 2')}hi`, 404],
      [bare('GET / HTTP/1.1'), 400],
      [hosted('GET /health HTTP/1.1', 'Connection: close'), 'health'],
      [hosted('GET /health HTTP/1.1', 'Connection: close, upgrade', 'Upgrade: x'), 'health'],
    ]
    let answered = 0
    for (const [first, outcome] of firsts)
      for (const middle of ['', hosted('GET / HTTP/1.1', 'Connection: upgrade', 'Upgrade: x')]) {
        const client = await open(port)
        client.socket.removeAllListeners('end')
        client.send(first + middle + behind)
        assertOutcomes(await client.answers(1), [outcome], true)
        client.send(behind)
        await settled()
        answered += 1
        assert.equal(events.length, answered)
        client.socket.destroy()
      }
  })

  test("sixteen of thousands of requests in one packet are read, so that other clients don't wait", async (t) => {
    const { port, events } = await startTestService(t, { lingerMs: 5_000 })
    const packet = hosted('GET /flood HTTP/1.1').repeat(1_500)
    const rude = await Promise.all(Array.from({ length: 30 }, () => open(port)))
    const polite = await open(port)
    for (const { send } of rude) send(packet)
    polite.send(REQUEST)
    assertOutcomes(await polite.answers(1), ['health'], false)
    for (const client of rude) await client.answers(LIMITS.pipelinedMax)
    await settled()
    assert.equal(events.length, 1 + rude.length * LIMITS.pipelinedMax)
    for (const { socket } of [...rude, polite]) socket.destroy()
  })

  const LASTS = [
    hosted('POST / HTTP/1.1', 'Content-Length: 99'),
    '\0',
    hosted('CONNECT x:1 HTTP/1.1'),
  ]
  for (const last of LASTS)
    test(`a connection is destroyed some time after its last answer: ${JSON.stringify(last)}`, async (t) => {
      const { port } = await startTestService(t, { lingerMs: 100 })
      const client = await open(port)
      client.send(last)
      const since = performance.now()
      await client.untilReset(20)
      assert.ok(performance.now() - since < LIMITS.silenceMs / 2, 'before the limit of silence')
    })
})
