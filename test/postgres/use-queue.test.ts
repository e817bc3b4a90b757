import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthenticationFault, ListFault } from '../../src/listing/faults.ts'
import type { Use } from '../../src/listing/store.ts'
import type { UseConnection } from '../../src/postgres/use-connection.ts'
import { createUseQueue, type UseQueue } from '../../src/postgres/use-queue.ts'
import type { Call, Outcome } from '../../src/postgres/uses.ts'
import { refusedByTurn, turns } from '../fixtures/turns.ts'

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

interface Options {
  /** Whether each batch is decided only when it is let go. */
  holds?: boolean
  batchMax?: number
  fails?: (calls: readonly Call[]) => boolean
}

function queueOver(
  count: number,
  { holds = false, batchMax, fails = () => false }: Options = {},
): {
  queue: UseQueue
  /** The first bytes of the hashes, for each batch. */
  batches: string[]
  held: (() => void)[]
  closed: number[]
  elapse(milliseconds: number): void
} {
  const batches: string[] = []
  const held: (() => void)[] = []
  const closed: number[] = []
  const working = new Set<number>()
  let now = 5_000
  const connections = Array.from(
    { length: count },
    (_, index): UseConnection => ({
      async decide(calls) {
        batches.push(calls.map(({ keyHash }) => keyHash[0]).join(' '))
        assert.ok(!working.has(index), 'one at a time')
        working.add(index)
        if (holds) await new Promise<void>((resolve) => held.push(resolve))
        working.delete(index)
        if (fails(calls)) throw new AuthenticationFault('lost')
        return calls.map(outcomeOf)
      },
      close: () => void closed.push(index),
    }),
  )
  return {
    queue: createUseQueue(connections, batchMax, () => now),
    batches,
    held,
    closed,
    elapse: (milliseconds) => {
      now += milliseconds
    },
  }
}

function outcomeOf({ keyHash: [byte] }: Call): Outcome {
  return byte === 2 ? new ListFault('x') : { outcome: 'revoked', apiKeyId: `id ${byte}` }
}

function call(queue: UseQueue, byte: number): Promise<Use> {
  return queue.useApiKey(Uint8Array.of(byte), () => null)
}

function summary(settled: PromiseSettledResult<Use>): string {
  if (settled.status === 'rejected') return settled.reason.name
  return 'apiKeyId' in settled.value ? settled.value.apiKeyId : settled.value.outcome
}
