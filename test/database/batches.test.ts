import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inBatches } from '../../src/database/batches.ts'

test('a batch grows to fit into 100 ms, at most doubles, and shrinks at once', async () => {
  const { sizes } = await write([0.01, 0.01, 0.01, 0.01, 0.01, 1, 1, 5, 0.05, 0], 40)
  assert.deepEqual(sizes, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 100, 100, 100, 200])
})

test('the size stays the same after a batch that took exactly 100 ms', async () => {
  const { sizes } = await write([0.1, 0.2, 0.2, 0], 0)
  assert.deepEqual(sizes, [1_000, 1_000, 500, 500])
})

test('between two batches there is a pause of half the time of the first, and at least 50 ms', async () => {
  const { pauses } = await write([0.01, 0.1, 0.5, 0], 0)
  assert.deepEqual(pauses, [50, 200 / 2, 500 / 2])
})

test('while no process serves, the pause is 10 ms', async () => {
  let batches = 0
  const isServed = () => {
    batches += 1
    return batches === 2
  }
  const { pauses } = await write([0.01, 0.1, 0.5, 0], 0, isServed)
  assert.deepEqual(pauses, [10, 200 / 2, 10])
})

test('a batch with fewer rows than it may write is the last', async () => {
  assert.deepEqual(await write([0], 999), { sizes: [1_000], pauses: [] })
  const whole = await write([0, 0], 0)
  assert.equal(whole.sizes.length, 2)
})

test('the pause takes real time when no other clock is given', async () => {
  const startedAt = performance.now()
  const sizes: number[] = []
  await inBatches(async (rowsMax) => {
    sizes.push(rowsMax)
    return sizes.length === 1 ? rowsMax : 0
  })
  assert.equal(sizes.length, 2)
  assert.ok(sizes.every((size) => size >= 100 && size <= 2_000))
  assert.ok(performance.now() - startedAt >= 49)
})

/**
 * Writes full batches, then one of `rest` rows, by a clock that only the batches move: so many
 * milliseconds per row.
 */
async function write(
  millisecondsPerRow: readonly number[],
  rest: number,
  isServed?: () => boolean,
): Promise<{ sizes: number[]; pauses: number[] }> {
  let now = 1_000
  const sizes: number[] = []
  const pauses: number[] = []
  await inBatches(
    async (rowsMax) => {
      now += rowsMax * millisecondsPerRow[sizes.length]!
      sizes.push(rowsMax)
      return sizes.length === millisecondsPerRow.length ? rest : rowsMax
    },
    isServed,
    {
      now: () => now,
      async pause(milliseconds) {
        pauses.push(Math.round(milliseconds))
      },
    },
  )
  return { sizes, pauses }
}
