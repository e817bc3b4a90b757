import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Histogram } from '../../src/model/health/histogram.ts'
import { call, KINDS, POSTGRES, queueOver, SQLITE } from './queue-over.ts'

for (const [engine, kind] of KINDS) {
  test(`over ${engine} the queue counts batches by size, and how long they waited`, async () => {
    const { queue, elapse } = queueOver(kind)
    await call(queue, 1)
    const calls = [1, 3, 4].map((byte) => call(queue, byte))
    elapse(7)
    await Promise.all(calls)
    assert.deepEqual(bucketsOf(queue.counts.batchSizes), { 1: 1, 4: 1 })
    assert.equal(queue.counts.batchSizes.sum(), 4)
    assert.deepEqual(bucketsOf(queue.counts.waits), { 0.1: 1, 10: 1 })
    assert.equal(queue.counts.waits.sum(), 7)
    assert.equal(queue.counts.shed(), 0)
  })

  test(`over ${engine} the queue counts the claims that waited too long`, async () => {
    const { queue, elapse } = queueOver(kind)
    const calls = [1, 3].map((byte) => assert.rejects(call(queue, byte)))
    elapse(kind.limits.waitMaxMs)
    await Promise.all([...calls, call(queue, 4)])
    assert.equal(queue.counts.shed(), 2)
  })
}

test('the tries that find the whole database locked are not counted as batches', async () => {
  let isLocked = true
  const { queue, elapse } = queueOver(SQLITE, { isLocked: () => isLocked })
  const claim = call(queue, 1)
  await new Promise(setImmediate)
  isLocked = false
  elapse(7)
  await claim
  assert.deepEqual(bucketsOf(queue.counts.batchSizes), { 1: 1 })
  assert.equal(queue.counts.waits.sum(), 7)
})

test('a busy claim that is given up is counted with the others of its key', async () => {
  const { queue } = queueOver(POSTGRES, { decide: () => ({ outcome: 'busy', apiKeyId: 'id' }) })
  const calls = [1, 1, 1].map((byte) => assert.rejects(call(queue, byte)))
  await queue.close()
  await Promise.all(calls)
  assert.equal(queue.counts.shed(), 3)
})

/** The buckets with values, by their bound. */
function bucketsOf(histogram: Histogram): Record<string, number> {
  const bounds = [...histogram.bounds, Number.POSITIVE_INFINITY]
  const filled = bounds.map((bound, index) => [bound, histogram.count(index)] as const)
  return Object.fromEntries(filled.filter(([, count]) => count > 0))
}
