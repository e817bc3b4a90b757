import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { suite, test } from 'node:test'
import { addOwner, startTestService } from '../fixtures/service.ts'
import { bare, hosted } from './corpus/case.ts'
import { listenHeld, settled } from './held.ts'
import { assertOutcomes, type Outcome } from './outcome.ts'
import { open } from './raw.ts'

/*
 * How a connection begins, how long it may be silent, how it ends.
 */

const REQUEST = hosted('GET /health HTTP/1.1')

suite('a connection', { concurrency: true }, () => {
  test('serves many requests, one after the other', async (t) => {
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

  test('serves a client that has said all it wants to say', async (t) => {
    const { port, store } = await startTestService(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const client = await open(port)
    client.socket.end(hosted('GET /v1/servers HTTP/1.1', `Authorization: Bearer ${key}`) + REQUEST)
    assertOutcomes(await client.untilEnd(), ['listing', 'health'], false)
  })

  test('waits for an answer that takes longer, when the client has said all', async (t) => {
    const { port, taken, held } = await listenHeld(t)
    const client = await open(port)
    client.socket.end(REQUEST)
    await taken(1)
    await settled()
    held[0]!.answer()
    assertOutcomes(await client.untilEnd(), ['health'], false)
  })

  test('that ends within a head is told so', async (t) => {
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

  test('that ends without a byte, or after empty lines, is left without one', async (t) => {
    const { port, events } = await startTestService(t)
    for (const nothing of ['', '\r\n']) {
      const client = await open(port)
      client.socket.end(nothing)
      assert.deepEqual(await client.untilEnd(), [])
    }
    assert.deepEqual(events, [])
  })

  test('beyond the greatest number is closed at once, and the others are served', async (t) => {
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
    test(`has its answer however much of ${name} is still to come`, async (t) => {
      const { port } = await startTestService(t, { lingerMs: 5_000 })
      const client = await open(port)
      // It reads only when it has said everything: a reset until then would take the answer with it.
      client.socket.pause()
      client.send(head + 'x'.repeat(LENGTH))
      while (client.socket.writableLength > 0) await once(client.socket, 'drain')
      client.socket.resume()
      assertOutcomes(await client.untilEnd(), [outcome], true)
    })

  test('is only discarded, and not parsed, once it has its last answer', async (t) => {
    const { port } = await startTestService(t, { lingerMs: 5_000 })
    let parsed = 0
    const count = (message: unknown) => {
      if ((message as { request: IncomingMessage }).request.url === '/discarded') parsed += 1
    }
    subscribe('http.server.request.start', count)
    t.after(() => unsubscribe('http.server.request.start', count))
    const behind = hosted('GET /discarded HTTP/1.1').repeat(1_000)
    // Each in one packet, the last of them that is taken among the rest; Upgrade is what Node lets go of.
    const firsts: [string, Outcome][] = [
      [`${hosted('POST / HTTP/1.1', 'Content-Length: 2')}hi`, 404],
      [bare('GET / HTTP/1.1'), 400],
      [hosted('GET /health HTTP/1.1', 'Connection: close'), 'health'],
      [hosted('GET /health HTTP/1.1', 'Connection: close, upgrade', 'Upgrade: x'), 'health'],
    ]
    for (const [first, outcome] of firsts)
      for (const middle of ['', hosted('GET / HTTP/1.1', 'Connection: upgrade', 'Upgrade: x')]) {
        const client = await open(port)
        client.socket.removeAllListeners('end')
        client.send(first + middle + behind)
        assertOutcomes(await client.answers(1), [outcome], true)
        client.send(behind)
        await settled()
        assert.equal(parsed, 0)
        client.socket.destroy()
      }
  })

  test('a few hundred clients that send thousands of requests in a packet keep nobody waiting', async (t) => {
    const { port } = await startTestService(t)
    const packet = bare('GET / HTTP/1.1').repeat(3_600)
    const waits: number[] = []
    // On a machine that others use as well one try may take long; where the packets were parsed whole, each would.
    while (waits.length < 3 && !waits.some((tookMs) => tookMs < 3_000)) {
      const rude = await Promise.all(Array.from({ length: 300 }, () => open(port)))
      const polite = await open(port)
      for (const { send } of rude) send(packet)
      const startedAt = performance.now()
      polite.send(REQUEST)
      assertOutcomes(await polite.answers(1), ['health'], false)
      waits.push(performance.now() - startedAt)
      for (const { socket } of [...rude, polite]) socket.destroy()
    }
    assert.ok(waits.at(-1)! < 3_000, `answered after ${waits.join(' and ')} ms`)
  })

  const LASTS = [
    hosted('POST / HTTP/1.1', 'Content-Length: 99'),
    '\0',
    hosted('CONNECT x:1 HTTP/1.1'),
  ]
  for (const last of LASTS)
    test(`is not listened to for ever once it has its last answer: ${JSON.stringify(last)}`, async (t) => {
      const { port } = await startTestService(t, { lingerMs: 100 })
      const client = await open(port)
      client.send(last)
      await client.untilReset(20)
    })
})
