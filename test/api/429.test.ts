import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createAnswer } from '../../src/api/answer.ts'
import { refusal } from '../../src/api/responses.ts'
import { listen } from '../../src/http/listen.ts'
import { openServingSqliteStore } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { ask } from '../fixtures/requests.ts'
import { addOwner, startTestService } from '../fixtures/service.ts'
import { assertAnswer } from './answers.ts'

const BODY = '{"error":"Rate limit exceeded","limit":"1 rps"}'

test('a second request within the second is refused, and says when to come back', async (t) => {
  const { port, store, clock } = await startTestService(t)
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

test('two hundred concurrent requests with one key are exactly one 200', async (t) => {
  const { port, store } = await startTestService(t)
  const { key } = await addOwner(store, 'ada@example.com')
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(port, { key })))
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  assert.deepEqual(statuses, [200, ...Array.from({ length: 199 }, () => 429)])
})

test('in real time, twenty requests over 1.9 seconds are exactly two 200s', async (t) => {
  // A machine that stalls stretches a run, which may then have room for a third.
  for (let tries = 0; tries < 5; tries += 1) {
    const { statuses, seconds } = await askTwentyTimes(t)
    const successes = statuses.filter((status) => status === 200).length
    assert.equal(statuses.filter((status) => status === 429).length, 20 - successes)
    assert.ok(successes >= 2 && successes <= 1 + seconds)
    if (seconds < 2) return
  }
  assert.fail('no run of five was done within two seconds')
})

async function askTwentyTimes(t: TestContext): Promise<{ statuses: number[]; seconds: number }> {
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
  const start = performance.now()
  const statuses: number[] = []
  for (let turn = 0; turn < 20; turn += 1) {
    await delay(Math.max(0, start + turn * 100 - performance.now()))
    statuses.push((await ask(listener.port, { key })).status)
  }
  return { statuses, seconds: (performance.now() - start) / 1_000 }
}
