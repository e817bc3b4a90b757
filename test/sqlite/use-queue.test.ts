import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthenticationFault, ListFault } from '../../src/listing/faults.ts'
import type { Use } from '../../src/listing/store.ts'
import { createUseQueue, type UseQueue } from '../../src/sqlite/use-queue.ts'
import type { Call, Outcome, Uses } from '../../src/sqlite/uses.ts'
import { eventually } from '../fixtures/eventually.ts'
import { refusedByTurn, turns } from '../fixtures/turns.ts'

/*
 * Which calls are decided together, when, and what becomes of them; deciding itself is the test's.
 */

test('the calls of one turn are decided together, in their order, and each gets its own outcome', async () => {
  const { queue, batches } = queueOn({ decide: outcomeOfFirstByte })
  const settled = await Promise.allSettled([1, 2, 3].map((byte) => call(queue, byte)))
  assert.deepEqual(batches, [[1, 2, 3]])
  assert.deepEqual(settled.map(summary), ['id 1', 'ListFault', 'id 3'])
  await call(queue, 1)
  assert.deepEqual(batches, [[1, 2, 3], [1]])
})

test('what is remembered is asked through the call that was made', async () => {
  const { queue } = queueOn({
    decide: ([first]) => [{ outcome: 'revoked', apiKeyId: first!.recall('ada') ?? '' }],
  })
  const use = await queue.useApiKey(Uint8Array.of(1), (userId) => `of ${userId}`)
  assert.deepEqual(use, { outcome: 'revoked', apiKeyId: 'of ada' })
})

test('256 calls at most are decided together, and all that came in one turn in that turn', async () => {
  const { queue, batches, tidied } = queueOn()
  const calls = Array.from({ length: 600 }, () => call(queue, 1))
  await new Promise(setImmediate)
  assert.deepEqual(
    batches.map((batch) => batch.length),
    [256, 256, 88],
  )
  const settled = await Promise.allSettled(calls)
  assert.ok(settled.every(({ status }) => status === 'fulfilled'))
  await turns()
  assert.equal(tidied(), 3)
})

test('upkeep comes after the answers, and where it fails nobody is told', async () => {
  const { queue, tidied } = queueOn({ tidy: () => assert.fail('locked') })
  const answered = call(queue, 1).then(() => assert.equal(tidied(), 0))
  await answered
  await turns()
  assert.equal(tidied(), 1)
  assert.equal(summary({ status: 'fulfilled', value: await call(queue, 1) }), 'id 1')
})

test('a batch that finds the file locked is tried again, with what has come since', async () => {
  let tries = 0
  const { queue, batches } = queueOn({
    decide: (calls) => (++tries < 4 ? null : outcomeOfFirstByte(calls)),
  })
  const first = call(queue, 1)
  await turns()
  const second = call(queue, 3)
  await Promise.all([first, second])
  assert.equal(batches.length, 4)
  assert.deepEqual([batches[0], batches[3]], [[1], [1, 3]])
})

test('while many wait a locked file is tried every five milliseconds, not at each call', async () => {
  let isLocked = true
  const decide = (calls: readonly Call[]) => (isLocked ? null : outcomeOfFirstByte(calls))
  const { queue, batches, elapse } = queueOn({ decide })
  const calls = Array.from({ length: 600 }, () => call(queue, 1))
  assert.equal(batches.length, 1)
  elapse(4.9)
  calls.push(call(queue, 1))
  assert.equal(batches.length, 1)
  elapse(0.1)
  isLocked = false
  // The event loop may be too busy for a timer.
  calls.push(call(queue, 1))
  assert.deepEqual(
    batches.map((batch) => batch.length),
    [256, 256],
  )
  await Promise.all(calls)
})

test('a call waits a second and no longer; one that came later is not given up with it', async () => {
  let isLocked = true
  const decide = (calls: readonly Call[]) => (isLocked ? null : outcomeOfFirstByte(calls))
  const { queue, batches, elapse } = queueOn({ decide })
  const first = call(queue, 1)
  const refused = assert.rejects(first, /AuthenticationFault: not decided within 1000 ms/)
  elapse(999)
  const later = call(queue, 3)
  await eventually(async () => batches.length >= 2)
  assert.deepEqual(batches[1], [1, 3])
  elapse(1)
  await refused
  isLocked = false
  assert.equal((await later).outcome, 'revoked')
  assert.deepEqual(batches.at(-1), [3])
})

test('of thousands that waited for too long 256 are told so in a turn, and whoever comes is decided', async () => {
  const { queue, elapse } = queueOn({
    decide: (calls) => (calls.length > 1 ? null : outcomeOfFirstByte(calls)),
  })
  const calls = Array.from({ length: 600 }, () => call(queue, 1))
  elapse(1_000)
  const later = call(queue, 3)
  assert.deepEqual((await refusedByTurn(calls)).slice(-3), [256, 512, 600])
  assert.equal((await later).outcome, 'revoked')
})

test('close refuses those, too, that waited for too long', async () => {
  const { queue, elapse } = queueOn({ decide: () => null })
  const refused = Array.from({ length: 300 }, () => assert.rejects(call(queue, 1)))
  elapse(1_000)
  await Promise.race(refused)
  queue.close()
  await Promise.all(refused)
})

test('close decides what is waiting, and refuses what comes after', async () => {
  const { queue, batches, tidied } = queueOn()
  const waiting = call(queue, 1)
  queue.close()
  assert.deepEqual(batches, [[1]])
  assert.equal((await waiting).outcome, 'revoked')
  await assert.rejects(call(queue, 1), closed)
  queue.close()
  await turns()
  assert.deepEqual(batches, [[1]])
  assert.equal(tidied(), 0, 'what it would be done on is closed')
})

test('close refuses what cannot be decided at once', async () => {
  const { queue, batches } = queueOn({ decide: () => null })
  const waiting = [call(queue, 1), call(queue, 2)].map((one) => assert.rejects(one, closed))
  queue.close()
  await Promise.all(waiting)
  assert.deepEqual(batches, [[1, 2]])
  // Nothing is waiting when it is tried again.
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(batches, [[1, 2]])
})

interface Deciding {
  decide?: (calls: readonly Call[]) => Outcome[] | null
  tidy?: () => void
}

function queueOn({ decide = outcomeOfFirstByte, tidy = () => {} }: Deciding = {}): {
  queue: UseQueue
  /** The first bytes of the hashes that were asked for, batch by batch. */
  batches: (number | undefined)[][]
  tidied(): number
  elapse(milliseconds: number): void
} {
  const batches: (number | undefined)[][] = []
  let tidied = 0
  let now = 5_000
  const uses: Uses = {
    useTogether(calls) {
      batches.push(calls.map(({ keyHash }) => keyHash[0]))
      return decide(calls)
    },
    tidy() {
      tidied += 1
      tidy()
    },
  }
  return {
    queue: createUseQueue(uses, () => now),
    batches,
    tidied: () => tidied,
    elapse: (milliseconds) => {
      now += milliseconds
    },
  }
}

function outcomeOfFirstByte(calls: readonly Call[]): Outcome[] {
  return calls.map(({ keyHash: [byte] }) =>
    byte === 2 ? new ListFault('x') : { outcome: 'revoked', apiKeyId: `id ${byte}` },
  )
}

function call(queue: UseQueue, byte: number): Promise<Use> {
  return queue.useApiKey(Uint8Array.of(byte), () => null)
}

function summary(settled: PromiseSettledResult<Use>): string {
  if (settled.status === 'rejected') return settled.reason.name
  return 'apiKeyId' in settled.value ? settled.value.apiKeyId : settled.value.outcome
}

function closed(fault: unknown): boolean {
  return fault instanceof AuthenticationFault && /the store is closed/.test(fault.message)
}
