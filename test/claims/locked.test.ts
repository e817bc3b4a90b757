import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthenticationFault } from '../../src/model/faults.ts'
import { eventually } from '../fixtures/eventually.ts'
import { refusedByTurn, turns } from '../fixtures/turns.ts'
import { call, queueOver, SQLITE, sizesOf } from './queue-over.ts'

/*
 * The whole database is locked: the engine decides nothing, and the queue retries.
 */

test('a batch that finds the database locked is retried together with newer claims', async () => {
  let tries = 0
  const { queue, batches } = queueOver(SQLITE, { isLocked: () => ++tries < 4 })
  const first = call(queue, 1)
  await turns()
  const second = call(queue, 3)
  await Promise.all([first, second])
  assert.equal(batches.length, 4)
  assert.deepEqual([batches[0], batches[3]], ['1', '1 3'])
})

test('a locked database is retried every 5 ms, not at each claim', async () => {
  let isLocked = true
  const { queue, batches, elapse } = queueOver(SQLITE, { isLocked: () => isLocked })
  const calls = Array.from({ length: 600 }, (_, number) => call(queue, 1, number))
  assert.equal(batches.length, 1)
  elapse(4.9)
  calls.push(call(queue, 1))
  assert.equal(batches.length, 1)
  elapse(0.1)
  isLocked = false
  // The event loop may be too busy for a timer.
  calls.push(call(queue, 1))
  assert.deepEqual(sizesOf(batches), [256, 256])
  await Promise.all(calls)
})

test('after a lock, each turn decides one batch of the waiting claims', async () => {
  let isLocked = true
  const { queue, batches } = queueOver(SQLITE, { isLocked: () => isLocked })
  const calls = Array.from({ length: 900 }, (_, number) => call(queue, 1, number))
  isLocked = false
  const sizesByTurn = new Set<number>()
  const tried = batches.length
  while (batches.length < tried + 4) {
    await new Promise(setImmediate)
    sizesByTurn.add(batches.length - tried)
  }
  assert.deepEqual([...sizesByTurn].slice(-4), [1, 2, 3, 4])
  await Promise.all(calls)
})

test('a claim waits one second for the lock and expires without the newer ones', async () => {
  let isLocked = true
  const { queue, batches, elapse } = queueOver(SQLITE, { isLocked: () => isLocked })
  const refused = assert.rejects(call(queue, 1), /AuthenticationFault: not decided within 1000 ms/)
  elapse(999)
  const later = call(queue, 3)
  await eventually(async () => batches.length >= 2)
  assert.equal(batches[1], '1 3')
  elapse(1)
  await refused
  isLocked = false
  assert.equal((await later).outcome, 'revoked')
  assert.equal(batches.at(-1), '3')
})

test('a probe that waits for the lock lets older claims expire, and is not counted', async () => {
  const { queue, batches, elapse } = queueOver(SQLITE, { isLocked: () => true })
  const claim = assert.rejects(call(queue, 1), /AuthenticationFault: not decided within 1000 ms/)
  elapse(900)
  const probe = assert.rejects(queue.probe(), /AuthenticationFault: not decided within 1000 ms/)
  await eventually(async () => batches.includes('0 1'))
  elapse(100)
  await eventually(async () => queue.counts.shed() === 1)
  await claim
  elapse(900)
  await probe
  assert.equal(queue.counts.shed(), 1)
})

test('after a lock that lasts, expired claims are rejected 256 per turn', async () => {
  const { queue, elapse } = queueOver(SQLITE, { isLocked: (calls) => calls.length > 1 })
  const calls = Array.from({ length: 600 }, (_, number) => call(queue, 1, number))
  elapse(1_000)
  const later = call(queue, 3)
  assert.deepEqual((await refusedByTurn(calls)).slice(-3), [256, 512, 600])
  assert.equal((await later).outcome, 'revoked')
})

test('close retries a locked database once and rejects the claims without waiting', async () => {
  const { queue, batches, closed } = queueOver(SQLITE, { isLocked: () => true })
  const waiting = [1, 3].map((byte) => assert.rejects(call(queue, byte), isClosedFault))
  await queue.close()
  await Promise.all(waiting)
  assert.deepEqual([batches, closed], [['1 3'], [0]])
  // The pause after the lock ends with nothing to do.
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(batches, ['1 3'])
})

test('close rejects all claims of a locked database, however many there are', async () => {
  const { queue } = queueOver(SQLITE, { isLocked: () => true })
  const waiting = Array.from({ length: 600 }, (_, number) =>
    assert.rejects(call(queue, 1, number % 500), isClosedFault),
  )
  await queue.close()
  await Promise.all(waiting)
})

function isClosedFault(fault: unknown): boolean {
  return fault instanceof AuthenticationFault && /the store is closed/.test(fault.message)
}
