import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ListFault } from '../../src/model/faults.ts'
import { turns } from '../fixtures/turns.ts'
import { call, KINDS, queueOver } from './queue-over.ts'

/* How the queue treats the probe of a health check. Its hash begins with byte 0. */

for (const [engine, kind] of KINDS)
  suite(`a probe over ${engine}`, () => {
    const { waitMaxMs } = kind.limits

    test('is decided with the next batch, however many claims wait', async () => {
      const { queue, batches } = queueOver(kind, { batchMax: 2 })
      // The first two are a full batch, which begins at once.
      const claims = [1, 3, 4, 5, 6].map((byte) => call(queue, byte))
      const probe = queue.probe()
      await Promise.all([probe, ...claims])
      assert.ok(batches.findIndex((batch) => batch.startsWith('0')) <= 2, batches.join())
    })

    test('rejects with the fault of its batch', async () => {
      const { queue } = queueOver(kind, { decide: () => new ListFault('lost') })
      await assert.rejects(queue.probe(), /lost/)
    })

    test(`rejects if no engine takes it for ${waitMaxMs} ms`, async () => {
      let isLocked = true
      const { queue, held, elapse } = queueOver(kind, { holds: true, isLocked: () => isLocked })
      // On an asynchronous engine this claim keeps the only decider at work.
      void call(queue, 1).catch(() => {})
      await turns()
      const probe = assert.rejects(queue.probe(), new RegExp(kind.limits.expiredReason))
      elapse(waitMaxMs)
      // A later claim begins a turn.
      void call(queue, 3).catch(() => {})
      await probe
      isLocked = false
      for (const release of held) release()
    })

    test('lets claims expire that are older than it', async () => {
      const { queue, batches, elapse } = queueOver(kind)
      const old = assert.rejects(call(queue, 1), /AuthenticationFault/)
      elapse(waitMaxMs)
      await queue.probe()
      await old
      assert.deepEqual(batches, ['0'])
    })

    test('rejects once the queue is closed', async () => {
      const { queue } = queueOver(kind)
      await queue.close()
      await assert.rejects(queue.probe(), /the store is closed/)
    })
  })
