import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refusal } from '../../src/api/responses.ts'
import { LIMITS } from '../../src/http/limits.ts'
import { listen } from '../../src/http/listen.ts'
import { addOwner, startTestService } from '../fixtures/service.ts'
import { bare, hosted } from './corpus/case.ts'
import { LARGE, listenHeld, settled } from './client/held.ts'
import { assertOutcomes, type Outcome } from './client/outcome.ts'
import { open } from './client/raw.ts'

/*
 * Bytes that arrive after a request never disturb that request's answer. If they are no request,
 * they get an answer of their own behind it.
 */

const REQUEST = hosted('GET / HTTP/1.1')

const CONNECT_WITH_BODY = `${hosted('CONNECT x:1 HTTP/1.1', 'Content-Length: 5')}hello`

const REFUSED: [name: string, text: string, Outcome][] = [
  ['bytes of no meaning', '\0\x01\x02', 400],
  ['an unknown method', hosted('FOO / HTTP/1.1'), 404],
  ['the beginning of an unknown method', 'FOO /', 400],
  ['CONNECT', hosted('CONNECT example.com:443 HTTP/1.1'), 404],
  ['CONNECT with a body', CONNECT_WITH_BODY, 404],
  [
    'CONNECT with two lengths',
    `${hosted('CONNECT x:1 HTTP/1.1', 'Content-Length: 5', 'Content-Length: 6')}hello`,
    400,
  ],
  ['a bad header', hosted('GET / HTTP/1.1', 'no colon'), 400],
  ['a long target', `GET /${'x'.repeat(40_000)}`, 414],
  ['a head too large', hosted('GET / HTTP/1.1', `X: ${'x'.repeat(40_000)}`), 431],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
]

suite('behind a request that is still being answered', { concurrency: true }, () => {
  for (const [name, text, outcome] of REFUSED)
    test(`${name}: gets its own answer after that of the request, and the connection ends`, async (t) => {
      const { port, taken, held, events } = await listenHeld(t)
      const client = await open(port)
      client.send(REQUEST + text)
      await taken(1)
      await settled()
      // Half a line may still become a request, but not after the client has closed its side.
      if (text === 'FOO /') client.socket.end()
      await settled()
      held[0]!.answer()
      assertOutcomes(await client.untilEnd(), ['health', outcome], true)
      assert.equal(held.length, 1)
      assert.deepEqual(events.map(({ kind }) => kind).toSorted(), ['answered', 'refused'])
    })

  test('every request before the garbage is answered first', async (t) => {
    const { port, taken, held } = await listenHeld(t)
    const client = await open(port)
    client.send(`${REQUEST.repeat(3)}\0`)
    await taken(3)
    await settled()
    for (const { answer } of held.toReversed()) answer()
    assertOutcomes(await client.untilEnd(), ['health', 'health', 'health', 400], true)
  })

  test("garbage waits behind the claim of a key, like the key's own requests", async (t) => {
    const { port, store } = await startTestService(t)
    const { key } = await addOwner(store, 'ada@example.com')
    const listing = hosted('GET /v1/servers HTTP/1.1', `Authorization: Bearer ${key}`)
    for (const [text, outcome] of [
      [hosted('FOO / HTTP/1.1'), 404],
      ['\0', 400],
    ] as const) {
      const client = await open(port)
      client.send(listing + text)
      const first = outcome === 404 ? 'listing' : 429
      assertOutcomes(await client.untilEnd(), [first, outcome], true)
    }
  })

  test('garbage gets its own answer only after all requests have theirs', async (t) => {
    const { port, taken, held } = await listenHeld(t)
    const client = await open(port)
    client.send(REQUEST.repeat(2))
    await taken(2)
    held[1]!.answer()
    client.send('\0')
    await settled()
    held[0]!.answer()
    assertOutcomes(await client.untilEnd(), ['health', 'health', 400], true)
  })

  test('a refusal waits for the answers before it', async (t) => {
    const { port, taken, held } = await listenHeld(t)
    const client = await open(port)
    client.send(REQUEST.repeat(2) + bare('GET / HTTP/1.1') + REQUEST)
    await taken(2)
    await settled()
    held[0]!.answer()
    held[1]!.answer()
    assertOutcomes(await client.untilEnd(), ['health', 'health', 400], true)
    assert.equal(held.length, 2)
  })

  test('the application never sees a request after the last one', async (t) => {
    const { port, taken, held } = await listenHeld(t)
    const lasts = [
      hosted('GET / HTTP/1.1', 'Connection: close'),
      bare('GET / HTTP/1.0'),
      `${hosted('GET / HTTP/1.1', 'Content-Length: 2')}hi`,
      `${hosted('GET / HTTP/1.1', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
      hosted('GET / HTTP/1.1', 'Expect: 100-continue'),
      hosted('GET / HTTP/1.1', 'Connection: upgrade', 'Upgrade: h2c'),
    ]
    for (const [index, last] of lasts.entries()) {
      const client = await open(port)
      client.send(last + REQUEST)
      await taken(index + 1)
      client.send(REQUEST)
      await settled()
      held[index]!.answer()
      assertOutcomes(await client.untilEnd(), ['health'], true)
      assert.equal(held.length, index + 1)
    }
  })

  test('answers keep the order of their requests, however long each takes', async (t) => {
    const { port, taken, held } = await listenHeld(t)
    const client = await open(port, [1])
    client.send(REQUEST + hosted('HEAD / HTTP/1.1') + REQUEST + bare('GET / HTTP/1.1'))
    await taken(3)
    for (const { answer } of held.toReversed()) answer()
    const answers = await client.untilEnd()
    assert.deepEqual(
      answers.map(({ status, body }) => `${status} ${body.length}`),
      ['200 11', '200 0', '200 11', '400 24'],
    )
  })

  test('a client that has gone before its answer causes no fault', async (t) => {
    const { port, taken, held } = await listenHeld(t)
    const behind = ['', '\0', REQUEST, hosted('CONNECT x:1 HTTP/1.1'), CONNECT_WITH_BODY]
    for (const text of behind) {
      const count = held.length
      const client = await open(port)
      client.send(REQUEST + text)
      await taken(count + 1)
      client.socket.resetAndDestroy()
      await settled()
      for (const { answer } of held) answer()
    }
    const client = await open(port)
    client.send(REQUEST)
    await taken(held.length + 1)
    held.at(-1)!.answer()
    assertOutcomes(await client.answers(1), ['health'], false)
    client.socket.destroy()
  })

  test('a client that pipelines too many requests gets the maximum of answers, then the connection ends', async (t) => {
    const { port, held, taken } = await listenHeld(t, { pipelinedMax: 8 })
    const client = await open(port)
    client.send(REQUEST.repeat(100_000))
    await taken(8)
    await settled()
    for (const { answer } of held.toReversed()) answer()
    assertOutcomes(await client.untilEnd(), Array(8).fill('health'), true)
    assert.equal(held.length, 8)
  })

  test('a client that never reads its answers gets the same maximum, then the connection ends', async (t) => {
    let taken = 0
    const answer = () => {
      taken += 1
      return LARGE
    }
    const application = { answer, refuse: refusal, observe: () => {} }
    const limits = { ...LIMITS, pipelinedMax: 4 }
    const listener = await listen(application, '127.0.0.1', 0, limits)
    t.after(listener.close)
    const client = await open(listener.port)
    client.socket.pause()
    client.send(REQUEST.repeat(100_000))
    await settled()
    assert.equal(taken, 4)
    client.socket.resume()
    const answers = await client.untilEnd()
    assert.deepEqual(
      answers.map(({ status, body }) => `${status} ${body.length === LARGE.body.length}`),
      Array(4).fill('200 true'),
    )
  })
})
