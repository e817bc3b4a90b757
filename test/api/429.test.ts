import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createAnswer } from '../../src/api/answer.ts'
import { refusal } from '../../src/api/responses.ts'
import { listen } from '../../src/http/listen.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { ask } from '../fixtures/requests.ts'
import { addOwner } from '../fixtures/service.ts'
import { describedPort, startDescribedService } from '../openapi/described-service.ts'
import { assertAnswer } from './answers.ts'

const BODY = '{"error":"Rate limit exceeded","limit":"1 rps"}'

test('a second request within the second gets 429 with Retry-After', async (t) => {
  const { port, store, clock } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  assert.equal((await ask(port, { key })).status, 200)
  for (const milliseconds of [0, 500, 499]) {
    clock.elapse(milliseconds)
    const answer = await ask(port, { key })
    assertAnswer(answer, 429, BODY)
    assert.equal(answer.headers['retry-after'], '1')
  }
  clock.elapse(1)
  assert.equal((await ask(port, { key })).status, 200)
})

test('two hundred concurrent requests with one key get exactly one 200', async (t) => {
  const { port, store } = await startDescribedService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(port, { key })))
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  assert.deepEqual(statuses, [200, ...Array.from({ length: 199 }, () => 429)])
})

test('in real time two 200s are a second apart, and the first request after that gets 200', async (t) => {
  const answers = await askTwentyTimes(t)
  const [first, ...rest] = answers
  assert.equal(first?.status, 200)
  let last = first
  for (const answer of rest) {
    // The service decided between these two moments, however slow the machine is.
    const atMost = answer.answeredAt - last.askedAt
    const atLeast = answer.askedAt - last.answeredAt
    if (answer.status === 200) assert.ok(atMost >= 1_000, `two 200s within ${atMost} ms`)
    else assert.ok(answer.status === 429 && atLeast < 1_000, `${answer.status} after ${atLeast} ms`)
    if (answer.status === 200) last = answer
  }
  assert.notEqual(last, first)
})

interface Timed {
  status: number
  askedAt: number
  answeredAt: number
}

/** One request every 100 ms, for 1.9 s unless the machine stalls. */
async function askTwentyTimes(t: TestContext): Promise<Timed[]> {
  const store = await openServingSqliteStore(`${temporaryFolder(t)}/listing.db`)
  const listener = await listen(
    { answer: createAnswer({ store, onFault() {} }), refuse: refusal, observe() {} },
    '127.0.0.1',
    0,
  )
  t.after(async () => {
    await listener.close()
    await store.close()
  })
  const { key } = await addOwner(store, 'ada@example.com')
  const port = await describedPort(t, listener.port)
  const start = performance.now()
  const answers: Timed[] = []
  for (let turn = 0; turn < 20; turn += 1) {
    await delay(Math.max(0, start + turn * 100 - performance.now()))
    const askedAt = performance.now()
    const { status } = await ask(port, { key })
    answers.push({ status, askedAt, answeredAt: performance.now() })
  }
  return answers
}
