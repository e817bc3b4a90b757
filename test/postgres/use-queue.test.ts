import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthenticationFault } from '../../src/listing/faults.ts'
import { refusedByTurn, turns } from '../fixtures/turns.ts'
import { call, queueOver, summary } from './queue-over.ts'

/*
 * Which calls go together, over which connection, and what becomes of them; deciding itself is the test's.
 */

test('the calls of one turn go together, in their order, and each gets its own outcome', async () => {
  const { queue, batches } = queueOver(1)
  const settled = await Promise.allSettled([1, 2, 3].map((byte) => call(queue, byte)))
  assert.deepEqual(batches, ['1 2 3'])
  assert.deepEqual(settled.map(summary), ['id 1', 'ListFault', 'id 3'])
})

test('what comes while all connections are at work goes together with the next one that is free', async () => {
  const { queue, batches, held } = queueOver(2, { holds: true })
  const calls = [call(queue, 1)]
  await turns()
  calls.push(call(queue, 3))
  await turns()
  calls.push(call(queue, 4))
  await turns()
  calls.push(call(queue, 5))
  await turns()
  assert.deepEqual(batches, ['1', '3'])
  held[1]!()
  await turns()
  assert.deepEqual(batches, ['1', '3', '4 5'])
  held[0]!()
  held[2]!()
  assert.deepEqual((await Promise.allSettled(calls)).map(summary), ['id 1', 'id 3', 'id 4', 'id 5'])
})

test('so many calls at most go together, over all connections that are free', async () => {
  const { queue, batches } = queueOver(2, { batchMax: 2 })
  await Promise.all([1, 3, 4, 5, 6].map((byte) => call(queue, byte)))
  assert.deepEqual(batches, ['1 3', '4 5', '6'])
  const whole = queueOver(1)
  await Promise.all(Array.from({ length: 300 }, () => call(whole.queue, 1)))
  assert.deepEqual(
    whole.batches.map((batch) => batch.split(' ').length),
    [128, 128, 44],
  )
})

test('a batch that is full goes at once, not at the end of the turn', async () => {
  const { queue, batches, held } = queueOver(1, { batchMax: 2, holds: true })
  const calls = [1, 3, 4, 5, 6].map((byte) => call(queue, byte))
  assert.deepEqual(batches, ['1 3'])
  const first = Promise.all(calls.slice(0, 2))
  held[0]!()
  await first
  // Whatever else is to be done in this turn.
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  assert.deepEqual(batches, ['1 3', '4 5'])
  held[1]!()
  await turns()
  assert.deepEqual(batches, ['1 3', '4 5', '6'])
  held[2]!()
  await Promise.all(calls)
})

test('what a connection fails of is heard by its batch, and by no other', async () => {
  const { queue, batches } = queueOver(1, { fails: (calls) => calls[0]?.keyHash[0] === 9 })
  await assert.rejects(call(queue, 9), /AuthenticationFault: lost/)
  assert.equal((await call(queue, 1)).outcome, 'revoked')
  assert.deepEqual(batches, ['9', '1'])
})

test('a call that waited 0.8 seconds is given up before anything is done for it', async () => {
  const { queue, batches, held, elapse } = queueOver(1, { holds: true })
  const first = call(queue, 1)
  await turns()
  const old = assert.rejects(
    call(queue, 3),
    /AuthenticationFault: the database had no answer for 800 ms/,
  )
  const older = assert.rejects(call(queue, 4), AuthenticationFault)
  elapse(1)
  const later = call(queue, 5)
  elapse(799)
  held[0]!()
  await Promise.all([first, old, older])
  await turns()
  assert.deepEqual(batches, ['1', '5'])
  held[1]!()
  await later
})

test('of hundreds that waited for too long 256 are told so in a turn', async () => {
  const { queue, held, elapse } = queueOver(1, { holds: true })
  const first = call(queue, 1)
  await turns()
  const calls = Array.from({ length: 300 }, () => call(queue, 3))
  await turns()
  elapse(800)
  held[0]!()
  await first
  assert.deepEqual((await refusedByTurn(calls)).slice(-2), [256, 300])
})

test('close decides what is waiting, then closes every connection, and refuses what comes after', async () => {
  const { queue, batches, held, closed } = queueOver(2, { holds: true, batchMax: 1 })
  const calls = [1, 3, 4].map((byte) => call(queue, byte))
  await turns()
  let isClosed = false
  const closing = queue.close().then(() => {
    isClosed = true
  })
  await assert.rejects(call(queue, 5), /AuthenticationFault: the store is closed/)
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

test('close tells all who waited for too long, however many they are', async () => {
  const { queue, held, elapse } = queueOver(1, { holds: true })
  const first = call(queue, 1)
  await turns()
  const calls = Array.from({ length: 600 }, () => call(queue, 3))
  let told = 0
  for (const late of calls) late.catch(() => (told += 1))
  elapse(800)
  const closing = queue.close()
  held[0]!()
  await Promise.all([first, closing])
  assert.equal(told, calls.length)
})

test('close decides what came in the same turn, and with nothing to do is done', async () => {
  const { queue, batches } = queueOver(1)
  const waiting = call(queue, 1)
  await queue.close()
  assert.equal((await waiting).outcome, 'revoked')
  assert.deepEqual(batches, ['1'])
  const idle = queueOver(2)
  await idle.queue.close()
  assert.deepEqual(idle.closed, [0, 1])
})
