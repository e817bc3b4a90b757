import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { turns } from '../fixtures/turns.ts'
import { call, POSTGRES, queueOver } from './queue-over.ts'

/*
 * How large a batch must be to begin beside a running one. Each queue has two deciders, and the
 * first one is at work on two claims.
 */

const GATHER_MS = 4

async function open(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const opened = queueOver(POSTGRES, { deciders: 2, holds: true })
  const calls: Promise<unknown>[] = []
  const ask = async (...bytes: number[]) => {
    calls.push(...bytes.map((byte) => call(opened.queue, byte)))
    await turns()
  }
  const release = async (index: number) => {
    opened.held[index]!()
    await turns()
  }
  const elapse = async (milliseconds: number) => {
    t.mock.timers.tick(milliseconds)
    await turns()
  }
  const end = async () => {
    const closing = opened.queue.close()
    for (const finish of opened.held) finish()
    await Promise.all([closing, ...calls])
  }
  await ask(1, 3)
  return { ...opened, ask, release, elapse, end }
}

test('a batch beside a running one begins once it is as large', async (t) => {
  const { batches, ask, end } = await open(t)
  await ask(4)
  assert.deepEqual(batches, ['1 3'])
  await ask(5)
  assert.deepEqual(batches, ['1 3', '4 5'])
  await end()
})

test('a smaller batch begins as soon as no other one runs', async (t) => {
  const { batches, ask, release, end } = await open(t)
  await ask(4)
  await release(0)
  assert.deepEqual(batches, ['1 3', '4'])
  await end()
})

test('a smaller batch begins after 4 ms beside one that still runs', async (t) => {
  const { batches, ask, release, elapse, end } = await open(t)
  await ask(4)
  await elapse(GATHER_MS - 1)
  assert.deepEqual(batches, ['1 3'])
  await elapse(1)
  assert.deepEqual(batches, ['1 3', '4'])
  await release(1)
  await ask(5)
  assert.deepEqual(batches, ['1 3', '4'], 'later claims gather anew')
  await elapse(GATHER_MS)
  assert.deepEqual(batches, ['1 3', '4', '5'])
  await end()
})

test('the 4 ms begin with the first claim of the batch', async (t) => {
  const { batches, ask, release, elapse, end } = await open(t)
  await ask(4)
  await elapse(GATHER_MS - 1)
  await ask(5)
  await release(1)
  await ask(6)
  await elapse(1)
  assert.deepEqual(batches, ['1 3', '4 5'])
  await elapse(GATHER_MS - 1)
  assert.deepEqual(batches, ['1 3', '4 5', '6'])
  await end()
})

test('a full batch begins beside any number of running ones', async () => {
  const { queue, batches, held } = queueOver(POSTGRES, { deciders: 3, batchMax: 2, holds: true })
  const calls = [1, 3, 4, 5, 6, 7].map((byte) => call(queue, byte))
  await turns()
  assert.deepEqual(batches, ['1 3', '4 5', '6 7'])
  for (const finish of held) finish()
  await Promise.all(calls)
})

test('close decides gathered claims without waiting for more', async (t) => {
  const { queue, batches, held, ask } = await open(t)
  await ask(4)
  const closing = queue.close()
  assert.deepEqual(batches, ['1 3', '4'])
  for (const finish of held) finish()
  await closing
})
