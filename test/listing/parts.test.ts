import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inParts } from '../../src/listing/parts.ts'

test('parts grow to what fits into a tenth of a second, by at most double, and shrink at once', async () => {
  // What a row takes in each part, in milliseconds; the last part finds fewer rows than it may do.
  const { sizes } = await work([0.01, 0.01, 0.01, 0.01, 0.01, 1, 1, 5, 0.05, 0], 40)
  assert.deepEqual(sizes, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 100, 100, 100, 200])
})

test('a part that took as long as it may is followed by one as large', async () => {
  const { sizes } = await work([0.1, 0.2, 0.2, 0], 0)
  assert.deepEqual(sizes, [1_000, 1_000, 500, 500])
})

test('between two parts there is a rest: half of what the part took, and no less than 50 ms', async () => {
  const { rests } = await work([0.01, 0.1, 0.5, 0], 0)
  assert.deepEqual(rests, [50, 200 / 2, 500 / 2])
})

test('nothing follows a part that found fewer rows than it might do', async () => {
  assert.deepEqual(await work([0], 999), { sizes: [1_000], rests: [] })
  const whole = await work([0, 0], 0)
  assert.equal(whole.sizes.length, 2)
})

test('in real time it rests as well', async () => {
  const startedAt = performance.now()
  const sizes: number[] = []
  await inParts(async (rows) => {
    sizes.push(rows)
    return sizes.length === 1 ? rows : 0
  })
  assert.equal(sizes.length, 2)
  assert.ok(sizes.every((size) => size >= 100 && size <= 2_000))
  assert.ok(performance.now() - startedAt >= 49)
})

/** Work by a clock that moves only with it: full parts, of which each row takes so long, and a last one of `rest` rows. */
async function work(
  millisecondsPerRow: readonly number[],
  rest: number,
): Promise<{ sizes: number[]; rests: number[] }> {
  let now = 1_000
  const sizes: number[] = []
  const rests: number[] = []
  await inParts(
    async (rows) => {
      now += rows * millisecondsPerRow[sizes.length]!
      sizes.push(rows)
      return sizes.length === millisecondsPerRow.length ? rest : rows
    },
    {
      now: () => now,
      async rest(milliseconds) {
        rests.push(Math.round(milliseconds))
      },
    },
  )
  return { sizes, rests }
}
