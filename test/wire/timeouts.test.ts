import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startTestService } from '../fixtures/service.ts'
import { hosted } from './corpus/case.ts'
import { LARGE, listenHeld, settled } from './client/held.ts'
import { assertOutcomes } from './client/outcome.ts'
import { open, type RawClient } from './client/raw.ts'

/* A silent client can't keep a connection. */

const REQUEST = hosted('GET /health HTTP/1.1')
const QUICK = { headersMs: 500, checkMs: 20, lingerMs: 5_000 }

suite('silence', { concurrency: true }, () => {
  const BEGINNINGS = {
    'nothing at all': '',
    'an empty line': '\r\n',
    'half a target': 'GET /hea',
    'half a head': 'GET /health HTTP/1.1\r\nHost: x\r\n',
    'half an unknown method': 'FOO',
    'half a target of an unknown method': 'FOO /hea',
  }
  for (const [name, beginning] of Object.entries(BEGINNINGS))
    test(`silence after ${name} is a 408`, async (t) => {
      const { port } = await startTestService(t, QUICK)
      const since = performance.now()
      const client = await open(port)
      client.send(beginning)
      assertOutcomes(await client.untilEnd(), [408], true)
      const milliseconds = performance.now() - since
      assert.ok(milliseconds > 490 && milliseconds < 20_000, `after ${milliseconds} ms`)
    })

  test('silence within the head of a second request is a 408', async (t) => {
    const { port } = await startTestService(t, QUICK)
    for (const beginning of ['GET /hea', 'FOO /hea']) {
      const client = await open(port)
      client.send(REQUEST)
      await client.answers(1)
      client.send(beginning)
      assertOutcomes(await client.untilEnd(), ['health', 408], true)
    }
  })

  test('a byte now and then does not prevent the 408', async (t) => {
    const { port } = await startTestService(t, QUICK)
    const client = await open(port)
    const timer = setInterval(() => client.send('x'), 100)
    t.after(() => clearInterval(timer))
    client.send('GET /')
    assertOutcomes(await client.untilEnd(), [408], true)
  })

  test('an incomplete head gets its 408 behind the answer of the request before it', async (t) => {
    const { port, taken, held } = await listenHeld(t, QUICK)
    const client = await open(port)
    client.send(`${REQUEST}GET /hea`)
    await taken(1)
    // A later connection times out later, so its timeout proves that the earlier wait is over.
    const witness = await open(port)
    await witness.untilEnd()
    held[0]!.answer()
    assertOutcomes(await client.untilEnd(), ['health', 408], true)
  })

  test('the service does not wait for a body', async (t) => {
    const { port } = await startTestService(t)
    const client = await open(port)
    client.send(`${hosted('POST / HTTP/1.1', 'Content-Length: 50')}hello`)
    const since = performance.now()
    assertOutcomes(await client.untilEnd(), [404], true)
    assert.ok(performance.now() - since < 5_000)
  })

  test('silence between requests ends the connection', async (t) => {
    const { port } = await startTestService(t, { keepAliveMs: 1 })
    const client = await open(port)
    client.send(REQUEST)
    const [answer] = await client.untilEnd()
    assert.equal(answer?.status, 200)
  })

  test('silence of both sides ends the connection, even with an answer pending', async (t) => {
    const { port, taken, held } = await listenHeld(t, { silenceMs: 500, checkMs: 50 })
    const client = await open(port)
    client.send(REQUEST)
    await taken(1)
    assert.deepEqual(await client.untilEnd(), [])
    held[0]!.answer()
    await settled()
  })

  for (const behind of ['', hosted('CONNECT x:1 HTTP/1.1')])
    test(`silence of a client that never reads ends the connection${behind === '' ? '' : ', with CONNECT after it'}`, async (t) => {
      const { port, taken, held } = await listenHeld(t, { silenceMs: 500, checkMs: 50 })
      const client = await open(port)
      client.socket.pause()
      client.send(REQUEST + behind)
      await taken(1)
      held[0]!.answer(LARGE)
      await client.untilReset(1_000)
    })

  test('empty lines between requests do not keep a connection', async (t) => {
    const { port } = await startTestService(t, { keepAliveMs: 400, checkMs: 50 })
    const client = await open(port)
    sendEvery(t, client, '\r\n')
    client.send(REQUEST)
    const answers = await client.untilEnd()
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200],
    )
  })

  const isShort = { timeout: 20_000 }
  test('input does not keep the connection of a client that never reads', isShort, async (t) => {
    const { port, taken, held } = await listenHeld(t, { silenceMs: 500, checkMs: 50 })
    const client = await open(port)
    client.socket.pause()
    client.send(REQUEST)
    await taken(1)
    held[0]!.answer(LARGE)
    sendEvery(t, client, '\r\n')
    await client.untilReset(60_000)
  })

  test('a client that sends gets an answer that takes longer than the limit', async (t) => {
    const { port, taken, held } = await listenHeld(t, { silenceMs: 500, checkMs: 50 })
    const client = await open(port)
    client.send(hosted('GET /health HTTP/1.1', 'Connection: close'))
    await taken(1)
    sendEvery(t, client, 'x')
    await delay(1_500)
    held[0]!.answer()
    assertOutcomes(await client.untilEnd(), ['health'], true)
  })
})

test('a head that arrives while the process is stopped causes no 408', async (t) => {
  const { port } = await startTestService(t, QUICK)
  const client = await open(port)
  client.send(REQUEST.slice(0, 10))
  await settled()
  client.send(REQUEST.slice(10))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * QUICK.headersMs)
  await client.answers(1)
  client.socket.end()
  assertOutcomes(await client.untilEnd(), ['health'], false)
})

function sendEvery(t: TestContext, client: RawClient, text: string): void {
  const timer = setInterval(() => client.send(text), 50)
  t.after(() => clearInterval(timer))
}
