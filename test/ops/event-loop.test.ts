import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Histogram } from '../../src/model/health/histogram.ts'
import { watchEventLoop } from '../../src/ops/event-loop.ts'
import { eventually } from '../fixtures/eventually.ts'

const BLOCKED_MS = 400

test('a turn of the event loop that takes long is a delay', async (t) => {
  const { delays, close } = watchEventLoop()
  t.after(close)
  await eventually(async () => countAbove(delays, 0) > 0)
  const [long, sum] = [countAbove(delays, 250), delays.sum()]
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS)
  await eventually(async () => countAbove(delays, 250) > long)
  // The timer may have been due at the end of the turn.
  assert.ok(delays.sum() - sum > BLOCKED_MS - 50)
})

function countAbove({ bounds, count }: Histogram, least: number): number {
  return [...bounds, Number.POSITIVE_INFINITY]
    .map((bound, index) => (bound > least ? count(index) : 0))
    .reduce((total, number) => total + number, 0)
}
