import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turns } from '../fixtures/turns.ts'
import { call, POSTGRES, queueOver, summary } from './queue-over.ts'

/*
 * Batches that take a while, on one connection or several.
 */

test('claims that arrive while every decider is busy share the next free one', async () => {
  const { queue, batches, held } = queueOver(POSTGRES, { deciders: 2, holds: true })
  const calls: Promise<unknown>[] = []
  for (const byte of [1, 3, 4, 5]) {
    calls.push(call(queue, byte))
    await turns()
  }
  assert.deepEqual(batches, ['1', '3'])
  held[1]!()
  await turns()
  assert.deepEqual(batches, ['1', '3', '4 5'])
  held[0]!()
  held[2]!()
  await Promise.all(calls)
})

test('claims of one turn that exceed a batch are spread over all free deciders', async () => {
  const { queue, batches } = queueOver(POSTGRES, { deciders: 2, batchMax: 2, holds: false })
  await Promise.all([1, 3, 4, 5, 6].map((byte) => call(queue, byte)))
  assert.deepEqual(batches, ['1 3', '4 5', '6'])
})

test('a full batch starts in the turn in which its decider becomes free', async () => {
  const { queue, batches, held } = queueOver(POSTGRES, { batchMax: 2, holds: true })
  const calls = [1, 3, 4, 5, 6].map((byte) => call(queue, byte))
  const first = Promise.all(calls.slice(0, 2))
  held[0]!()
  await first
  for (let microtasks = 0; microtasks < 10; microtasks += 1) await Promise.resolve()
  assert.deepEqual(batches, ['1 3', '4 5'])
  held[1]!()
  await turns()
  assert.deepEqual(batches, ['1 3', '4 5', '6'])
  held[2]!()
  await Promise.all(calls)
})

test('a failed batch fails its own claims and is not retried', async () => {
  const { queue, batches } = queueOver(POSTGRES, { fails: (calls) => calls[0]?.keyHash[0] === 9 })
  const settled = await Promise.allSettled([call(queue, 9), call(queue, 8)])
  assert.deepEqual(settled.map(summary), ['AuthenticationFault', 'AuthenticationFault'])
  assert.equal((await call(queue, 1)).outcome, 'revoked')
  assert.deepEqual(batches, ['9 8', '1'])
})

test('a claim that expires behind a batch is rejected before a decider sees it', async () => {
  const { queue, batches, held, elapse } = queueOver(POSTGRES, { holds: true })
  const first = call(queue, 1)
  await turns()
  const old = assert.rejects(call(queue, 3), /AuthenticationFault: the database had no answer/)
  elapse(1)
  const later = call(queue, 5)
  elapse(799)
  held[0]!()
  await Promise.all([first, old])
  await turns()
  assert.deepEqual(batches, ['1', '5'])
  held[1]!()
  await later
})

test('close waits for running batches and for those that wait behind them', async () => {
  const { queue, batches, held, closed } = queueOver(POSTGRES, {
    deciders: 2,
    holds: true,
    batchMax: 1,
  })
  const calls = [1, 3, 4].map((byte) => call(queue, byte))
  await turns()
  let isClosed = false
  const closing = queue.close().then(() => {
    isClosed = true
  })
  held[0]!()
  held[1]!()
  await turns()
  assert.deepEqual(batches, ['1', '3', '4'])
  assert.deepEqual([isClosed, closed], [false, []])
  held[2]!()
  await closing
  assert.deepEqual(closed, [0, 1])
  assert.deepEqual((await Promise.allSettled(calls)).map(summary), ['id 1', 'id 3', 'id 4'])
})
