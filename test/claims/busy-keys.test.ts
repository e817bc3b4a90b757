import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../src/claims/call.ts'
import { turns } from '../fixtures/turns.ts'
import { call, POSTGRES, queueOver, summary } from './queue-over.ts'

/*
 * How the queue treats a claim whose row another session has locked. The key is byte 7; its row is
 * locked until the test sets another outcome.
 */

/** After this long every parked call is due. */
const RETRY_MS = 40

const BUSY: Outcome = { outcome: 'busy', apiKeyId: 'id 7' }
const LIMITED: Outcome = { outcome: 'limited', apiKeyId: 'id 7' }
const GRANTED: Outcome = {
  outcome: 'granted',
  apiKeyId: 'id 7',
  userId: 'ada',
  revision: 'r',
  rows: [],
}

/** A queue, and the outcome of the key in the next batch. */
function open(options: Parameters<typeof queueOver>[1] = {}) {
  const key = { outcome: BUSY }
  const decide = (byte: number) => (byte === 7 ? key.outcome : undefined)
  return { key, ...queueOver(POSTGRES, { decide, ...options }) }
}

test('a busy claim is retried, and the others of its batch are answered at once', async () => {
  const { queue, batches, key } = open()
  const settled: number[] = []
  const calls = [1, 7, 3].map((byte) =>
    call(queue, byte).finally(() => {
      settled.push(byte)
    }),
  )
  await Promise.all([calls[0], calls[2]])
  assert.deepEqual([batches, settled], [['1 7 3'], [1, 3]])
  key.outcome = GRANTED
  assert.deepEqual(await calls[1], GRANTED)
  assert.equal(batches.at(-1), '7')
})

test('busy claims of one key are retried as one: one is granted, the rest limited', async () => {
  const next = Array.from({ length: 100 }, (): Outcome => BUSY)
  const { queue, batches } = queueOver(POSTGRES, {
    deciders: 2,
    batchMax: 1,
    decide: () => next.shift(),
  })
  const calls = Array.from({ length: 10 }, () => call(queue, 7))
  await turns()
  // The last claim comes while the others wait for the row or are being retried.
  calls.push(call(queue, 7))
  const asked = batches.length
  next.splice(0, next.length, GRANTED, LIMITED)
  const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome)
  assert.deepEqual(outcomes.toSorted(), ['granted', ...Array<string>(10).fill('limited')])
  assert.ok(batches.length - asked <= 2, batches.join())
})

test('a claim that stays busy for 0.8 seconds is rejected and not retried', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, batches, key, elapse } = open()
  const old = call(queue, 7)
  await turns()
  elapse(300)
  const later = call(queue, 7)
  elapse(500)
  t.mock.timers.tick(RETRY_MS)
  await assert.rejects(
    old,
    /AuthenticationFault: the row of api key id 7 stayed locked by another session for 800 ms/,
  )
  // The rejected claim must not be granted now.
  key.outcome = GRANTED
  await turns()
  t.mock.timers.tick(RETRY_MS)
  assert.equal((await later).outcome, 'granted')
  const asked = batches.length
  t.mock.timers.tick(1_000)
  await turns()
  assert.equal(batches.length, asked)
})

test('a busy claim without a free connection is rejected without a retry', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, batches, held, elapse } = open({ holds: true })
  const busy = call(queue, 7)
  await turns()
  held[0]!()
  await turns()
  const other = call(queue, 1)
  await turns()
  assert.deepEqual(batches, ['7', '1'])
  t.mock.timers.tick(RETRY_MS)
  elapse(800)
  held[1]!()
  await assert.rejects(busy, /stayed locked by another session/)
  await other
  assert.deepEqual(batches, ['7', '1'])
})

test('a claim that expires while an engine finds it busy is rejected and not retried', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, batches, held, elapse } = open({ holds: true })
  const busy = call(queue, 7)
  await turns()
  elapse(800)
  held[0]!()
  await assert.rejects(busy, /stayed locked by another session for 800 ms/)
  t.mock.timers.tick(1_000)
  await turns()
  assert.deepEqual(batches, ['7'])
})

test('claims that wait for one lock share one fault until the key is decided again', async () => {
  const { queue, key, elapse } = open()
  const faultOf = async () => {
    const refused = assert.rejects(call(queue, 7))
    const fault = call(queue, 7).catch((error: unknown) => error)
    await turns()
    elapse(800)
    await refused
    return fault
  }
  const first = await faultOf()
  assert.equal(await faultOf(), first)
  key.outcome = LIMITED
  await call(queue, 7)
  key.outcome = BUSY
  const second = await faultOf()
  assert.notEqual(second, first)
  // A lock that no claim has met for a minute counts as a new one.
  elapse(60_001)
  assert.notEqual(await faultOf(), second)
})

test('half of each batch is reserved for claims that were not busy', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const locked = new Set([10, 11, 12, 13, 14, 15])
  const decide = (byte: number): Outcome | undefined =>
    locked.has(byte) ? { outcome: 'busy', apiKeyId: `id ${byte}` } : undefined
  const { queue, batches, held } = queueOver(POSTGRES, { batchMax: 6, holds: true, decide })
  const busy = [...locked].map((byte) => call(queue, byte))
  await turns()
  // Decided alone while the six are parked.
  const blocker = call(queue, 1)
  held[0]!()
  await turns()
  t.mock.timers.tick(RETRY_MS)
  const fresh = [2, 3, 4, 5].map((byte) => call(queue, byte))
  const settled = Promise.allSettled([blocker, ...busy, ...fresh])
  held[1]!()
  await turns()
  assert.match(batches[2]!, /^1\d 1\d 1\d 2 3 4$/)
  locked.clear()
  for (let index = 2; index < held.length; index += 1) {
    held[index]!()
    await turns()
    t.mock.timers.tick(RETRY_MS)
    await turns()
  }
  await settled
})

test('close retries busy claims once, rejects those still busy and waits for no lock', async () => {
  const { queue, batches, closed } = open()
  const calls = [call(queue, 7), call(queue, 7)]
  const refused = Promise.allSettled(calls)
  await turns()
  await queue.close()
  assert.deepEqual((await refused).map(summary), ['AuthenticationFault', 'AuthenticationFault'])
  assert.ok(batches.length <= 3, batches.join())
  assert.deepEqual(closed, [0])
})
