import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Claim } from '../../src/model/claim.ts'
import { createClaimQueue } from '../../src/claims/queue.ts'
import { holding, NO_LISTINGS } from '../fixtures/listings.ts'
import { refusedByTurn } from '../fixtures/turns.ts'
import { call, KINDS, type Kind, queueOver, sizesOf, summary } from './queue-over.ts'

/*
 * The promises of the queue on either engine: which claims form a batch, what each caller gets, and
 * when. The test controls the engines; their limits are the real ones.
 */

const GRANTED: Claim = {
  outcome: 'granted',
  apiKeyId: 'id 9',
  userId: 'ada',
  revision: 'r1',
  rows: [],
}

for (const [engine, kind] of KINDS) {
  suite(`batches over ${engine}`, () => batchContract(kind))
  suite(`keys over ${engine}`, () => keyContract(kind))
  suite(`deadlines and closing over ${engine}`, () => deadlineContract(kind))
}

function batchContract(kind: Kind): void {
  const { batchMax } = kind.limits

  test('batches the claims of one turn in their order, each with its own outcome', async () => {
    const { queue, batches } = queueOver(kind)
    const settled = await Promise.allSettled([1, 2, 3].map((byte) => call(queue, byte)))
    assert.deepEqual(batches, ['1 2 3'])
    assert.deepEqual(settled.map(summary), ['id 1', 'ListFault', 'id 3'])
    await call(queue, 1)
    assert.deepEqual(batches, ['1 2 3', '1'])
  })

  test("hands the engine the caller's values", async () => {
    const queue = createClaimQueue(
      [
        {
          claimBatch: ([first]) => [
            {
              outcome: 'revoked',
              apiKeyId: `${first!.keyHash[0]} ${first!.listings.get('ada')?.revision}`,
            },
          ],
          close() {},
        },
      ],
      kind.limits,
    )
    const outcome = await queue.claim(Uint8Array.of(7), holding('r1'))
    assert.deepEqual(outcome, { outcome: 'revoked', apiKeyId: '7 r1' })
  })

  test(`puts at most ${batchMax} keys in a batch`, async () => {
    const { queue, batches } = queueOver(kind)
    await Promise.all(
      Array.from({ length: 2 * batchMax + 9 }, (_, number) => call(queue, 1, number)),
    )
    assert.deepEqual(sizesOf(batches), [batchMax, batchMax, 9])
  })

  test('starts a full batch at once, not at the end of the turn', async () => {
    const { queue, batches } = queueOver(kind, { batchMax: 2 })
    const calls = [1, 3, 4].map((byte) => call(queue, byte))
    assert.deepEqual(batches, ['1 3'])
    await Promise.all(calls)
    assert.deepEqual(batches, ['1 3', '4'])
  })
}

function keyContract(kind: Kind): void {
  test('hands the engine a key once, and its other callers in a batch are limited', async () => {
    const { queue, batches } = queueOver(kind, {
      decide: (byte) => (byte === 9 ? GRANTED : undefined),
    })
    const bytes = [9, 1, 9, 2, 1, 2, 9]
    const settled = await Promise.allSettled(bytes.map((byte) => call(queue, byte)))
    assert.deepEqual(batches, ['9 1 2'])
    const outcomes = settled.map((one) => ('value' in one ? one.value.outcome : one.reason.name))
    assert.deepEqual(outcomes, [
      'granted',
      'revoked',
      'limited',
      'ListFault',
      'revoked',
      'ListFault',
      'limited',
    ])
  })

  test('no caller gets an outcome if an engine gives too many or too few', async () => {
    const usual: Claim = { outcome: 'revoked', apiKeyId: 'id' }
    for (const outcomes of [[usual], [usual, usual, usual]]) {
      const decided = kind.isSynchronous ? outcomes : Promise.resolve(outcomes)
      const queue = createClaimQueue([{ claimBatch: () => decided, close() {} }], kind.limits)
      for (const settled of await Promise.allSettled([call(queue, 1), call(queue, 3)]))
        assert.equal(summary(settled), 'AuthenticationFault')
    }
  })
}

function deadlineContract(kind: Kind): void {
  const { waitMaxMs, expiredReason } = kind.limits

  test(`rejects a claim that no engine took for ${waitMaxMs} ms, and no later one`, async () => {
    const { queue, batches, elapse } = queueOver(kind)
    const old = [call(queue, 1), call(queue, 3)]
    const refused = old.map((one) =>
      assert.rejects(one, new RegExp(`AuthenticationFault: ${expiredReason}`)),
    )
    elapse(1)
    const later = call(queue, 4)
    elapse(waitMaxMs - 1)
    await Promise.all(refused)
    assert.equal((await later).outcome, 'revoked')
    assert.deepEqual(batches, ['4'])
  })

  test('rejects each caller of a key in its time', async () => {
    const { queue, batches, elapse } = queueOver(kind)
    const [old, other] = [call(queue, 1), call(queue, 3)]
    const refused = [old, other].map((one) => assert.rejects(one, /AuthenticationFault/))
    elapse(1)
    const [later, newest] = [call(queue, 4), call(queue, 1)]
    elapse(waitMaxMs - 1)
    await Promise.all(refused)
    assert.deepEqual(summary({ status: 'fulfilled', value: await newest }), 'id 1')
    await later
    assert.deepEqual(batches, ['4 1'])
  })

  test('counts the wait from the time of the request, if the caller gives it', async () => {
    const { queue, batches, elapse } = queueOver(kind)
    const requestedAt = 5_000
    elapse(1)
    const claim = queue.claim(Uint8Array.of(1), NO_LISTINGS, requestedAt)
    elapse(waitMaxMs - 1)
    await assert.rejects(claim, new RegExp(`AuthenticationFault: ${expiredReason}`))
    assert.deepEqual(batches, [])
  })

  test('rejects expired claims 256 per turn while it decides new ones', async () => {
    const { queue, elapse } = queueOver(kind, { batchMax: 1_000 })
    const calls = Array.from({ length: 600 }, (_, number) => call(queue, 1, number % 500))
    elapse(waitMaxMs)
    const later = call(queue, 3)
    assert.deepEqual((await refusedByTurn(calls)).slice(-3), [256, 512, 600])
    assert.equal((await later).outcome, 'revoked')
  })

  test('close decides waiting claims, closes the engines and rejects later claims', async () => {
    const { queue, batches, closed } = queueOver(kind, { deciders: 2 })
    const waiting = call(queue, 1)
    const closing = queue.close()
    await assert.rejects(call(queue, 3), /AuthenticationFault: the store is closed/)
    assert.equal((await waiting).outcome, 'revoked')
    await closing
    assert.deepEqual([batches, closed], [['1'], [0, 1]])
    await queue.close()
    assert.deepEqual(batches, ['1'])
  })

  test('closes at once when nothing is waiting', async () => {
    const { queue, closed } = queueOver(kind, { deciders: 2 })
    await queue.close()
    assert.deepEqual(closed, [0, 1])
  })

  test('rejects every expired claim before it is closed', async () => {
    const { queue, batches, elapse } = queueOver(kind, { batchMax: 1_000 })
    let told = 0
    for (let count = 0; count < 600; count += 1) call(queue, 1).catch(() => (told += 1))
    elapse(waitMaxMs)
    await queue.close()
    assert.deepEqual([told, batches], [600, []])
  })
}
