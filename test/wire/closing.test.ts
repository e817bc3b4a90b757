import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { suite, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { hosted } from './corpus/case.ts'
import { LARGE, listenHeld, settled } from './client/held.ts'
import { assertOutcomes } from './client/outcome.ts'
import { open } from './client/raw.ts'
import { once } from '../fixtures/within.ts'

/* close() answers open requests, and no client can delay it. */

const REQUEST = hosted('GET / HTTP/1.1')

suite('close', { concurrency: true }, () => {
  test('answers open requests, says that each is the last, and then ends', async (t) => {
    const { port, taken, held, close } = await listenHeld(t, { drainMs: 8_000 })
    const client = await open(port)
    client.send(REQUEST.repeat(2))
    await taken(2)
    const since = performance.now()
    const closed = close()
    await settled()
    held[1]!.answer()
    held[0]!.answer()
    assertOutcomes(await client.untilEnd(), ['health', 'health'], true)
    await closed
    assert.ok(performance.now() - since < 5_000)
  })

  test('answers a slow request even after the grace period for idle connections', async (t) => {
    const { port, taken, held, close } = await listenHeld(t, { drainMs: 8_000 })
    const [idle, busy, queued] = [await open(port), await open(port), await open(port)]
    busy.send(REQUEST)
    await taken(1)
    queued.send(REQUEST.repeat(2))
    await taken(3)
    held[2]!.answer()
    await settled()
    const closed = close()
    assert.deepEqual(await idle.untilEnd(), [])
    held[0]!.answer()
    held[1]!.answer()
    assertOutcomes(await busy.untilEnd(), ['health'], true)
    // The last answer was ready before the shutdown, but its turn came later.
    assertOutcomes(await queued.untilEnd(), ['health', 'health'], true)
    await closed
  })

  test('ends idle connections', async (t) => {
    const { port, taken, held, close } = await listenHeld(t, { drainMs: 8_000 })
    const [fresh, half, used] = [await open(port), await open(port), await open(port)]
    half.send('GET / HTT')
    used.send(REQUEST)
    await taken(1)
    held[0]!.answer()
    await used.answers(1)
    const since = performance.now()
    await close()
    assert.ok(performance.now() - since < 5_000)
    for (const client of [fresh, half]) assert.deepEqual(await client.untilEnd(), [])
    assertOutcomes(await used.untilEnd(), ['health'], false)
  })

  test('accepts a request that was under way on an idle connection', async (t) => {
    const { port, taken, held, close } = await listenHeld(t, { drainGraceMs: 5_000 })
    const client = await open(port)
    client.send(REQUEST)
    await taken(1)
    held[0]!.answer()
    await client.answers(1)
    const closed = close()
    // Later than any timer without a grace, and long before this one ends.
    await delay(50)
    client.send(REQUEST.repeat(2))
    await Promise.race([taken(2), closed])
    await settled()
    for (const { answer } of held) answer()
    const answers = await client.untilEnd()
    assertOutcomes(answers, ['health', 'health', 'health'], true)
    await closed
  })

  test('refuses new connections', async (t) => {
    const { port, taken, held, close } = await listenHeld(t, { drainMs: 8_000 })
    const client = await open(port)
    client.send(REQUEST)
    await taken(1)
    const closed = close()
    const [error] = await once(connect(port, '127.0.0.1'), 'error')
    assert.equal(error.code, 'ECONNREFUSED')
    held[0]!.answer()
    assertOutcomes(await client.untilEnd(), ['health'], true)
    await closed
  })

  test('can be called twice', async (t) => {
    const { close } = await listenHeld(t)
    assert.equal(close(), close())
    await close()
  })

  const HOLDERS: Record<string, string> = {
    'asks and never reads': REQUEST,
    'sends a body without end': hosted('POST / HTTP/1.1', 'Content-Length: 999999999'),
    'sends garbage': '\0',
    'asks for a tunnel': hosted('CONNECT x:1 HTTP/1.1'),
    'asks for a tunnel behind a request': REQUEST + hosted('CONNECT x:1 HTTP/1.1'),
  }
  for (const [name, text] of Object.entries(HOLDERS))
    test(`a client that ${name} and does not close can't delay it`, async (t) => {
      const { port, close } = await listenHeld(t, { lingerMs: 60_000 })
      const client = await open(port)
      client.socket.removeAllListeners('end')
      client.send(text)
      await settled()
      const since = performance.now()
      await close()
      assert.ok(performance.now() - since < 5_000)
      client.socket.destroy()
    })
})

test('waits for a client that reads slowly, within the same bound', async (t) => {
  const { port, taken, held, close } = await listenHeld(t, { drainMs: 2_000 })
  const [slow, never] = [await open(port), await open(port)]
  for (const { socket, send } of [slow, never]) {
    socket.pause()
    send(REQUEST)
  }
  await taken(2)
  for (const { answer } of held) answer(LARGE)
  await settled()
  const since = performance.now()
  const closed = close()
  setTimeout(() => slow.socket.resume(), 200)
  await once(slow.socket, 'end')
  assert.ok(slow.socket.bytesRead > LARGE.body.length)
  await closed
  const milliseconds = performance.now() - since
  assert.ok(milliseconds >= 1_999 && milliseconds < 20_000, `after ${milliseconds} ms`)
  never.socket.destroy()
})

test('leaves nothing that keeps the process alive', async (t) => {
  const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const { port, close } = await listenHeld(t)
  const client = await open(port)
  client.send('\0')
  await client.untilEnd()
  await close()
  await settled()
  const after = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  assert.ok(after <= before, `${after} timers, ${before} before`)
})
