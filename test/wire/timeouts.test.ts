import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { startTestService } from '../fixtures/service.ts'
import { hosted } from './corpus/case.ts'
import { LARGE, listenHeld, settled } from './held.ts'
import { assertOutcomes } from './outcome.ts'
import { open } from './raw.ts'

/*
 * Silence: nobody holds a connection by saying nothing.
 */

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
    test(`after ${name} is a timeout`, async (t) => {
      const { port } = await startTestService(t, QUICK)
      const since = performance.now()
      const client = await open(port)
      client.send(beginning)
      assertOutcomes(await client.untilEnd(), [408], true)
      const milliseconds = performance.now() - since
      assert.ok(milliseconds > 490 && milliseconds < 2_000, `after ${milliseconds} ms`)
    })

  test('within the head of a second request is one too', async (t) => {
    const { port } = await startTestService(t, QUICK)
    for (const beginning of ['GET /hea', 'FOO /hea']) {
      const client = await open(port)
      client.send(REQUEST)
      await client.answers(1)
      client.send(beginning)
      assertOutcomes(await client.untilEnd(), ['health', 408], true)
    }
  })

  test('is not excused by a byte now and then', async (t) => {
    const { port } = await startTestService(t, QUICK)
    const client = await open(port)
    const timer = setInterval(() => client.send('x'), 100)
    t.after(() => clearInterval(timer))
    client.send('GET /')
    assertOutcomes(await client.untilEnd(), [408], true)
  })

  test('within a head, behind a request that is still being answered, takes no answer away', async (t) => {
    const { port, taken, held } = await listenHeld(t, QUICK)
    const client = await open(port)
    client.send(`${REQUEST}GET /hea`)
    await taken(1)
    // A connection that begins later is timed out later, so what is waited for has happened by then.
    const witness = await open(port)
    await witness.untilEnd()
    held[0]!.answer()
    assertOutcomes(await client.untilEnd(), ['health'], true)
  })

  test('within a body is not waited for', async (t) => {
    const { port } = await startTestService(t)
    const client = await open(port)
    client.send(`${hosted('POST / HTTP/1.1', 'Content-Length: 50')}hello`)
    const since = performance.now()
    assertOutcomes(await client.untilEnd(), [404], true)
    assert.ok(performance.now() - since < 5_000)
  })

  test('between requests ends the connection', async (t) => {
    const { port } = await startTestService(t, { keepAliveMs: 1 })
    const client = await open(port)
    client.send(REQUEST)
    const [answer] = await client.untilEnd()
    assert.equal(answer?.status, 200)
  })

  test('of both sides ends the connection, whatever is still to be answered', async (t) => {
    const { port, taken, held } = await listenHeld(t, { silenceMs: 500 })
    const client = await open(port)
    client.send(REQUEST)
    await taken(1)
    assert.deepEqual(await client.untilEnd(), [])
    held[0]!.answer()
    await settled()
  })

  for (const behind of ['', hosted('CONNECT x:1 HTTP/1.1')])
    test(`of a client that never reads ends the connection${behind === '' ? '' : ', CONNECT behind it'}`, async (t) => {
      const { port, taken, held } = await listenHeld(t, { silenceMs: 500 })
      const client = await open(port)
      client.socket.pause()
      client.send(REQUEST + behind)
      await taken(1)
      held[0]!.answer(LARGE)
      await client.untilReset(1_000)
    })
})
