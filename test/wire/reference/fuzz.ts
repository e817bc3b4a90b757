import type { TestContext } from 'node:test'
import * as fc from 'fast-check'
import { CORPUS } from '../corpus/corpus.ts'
import { startCounterpart } from './exchange.ts'
import { cuts, mutation, within } from './mutation.ts'

/** Skips longer cases, which test length limits. */
const LENGTH_MAX = 1_500

/**
 * Mutates the handwritten cases at random, and sends each mutant whole and in pieces. Throws if an
 * answer is not the reference's.
 */
export async function fuzz(
  t: Pick<TestContext, 'after'>,
  seed: number,
  runs: number,
): Promise<void> {
  const { key, exchange, assertWhole } = await startCounterpart(t)
  const texts = Object.values(CORPUS)
    .flat()
    .map(({ send }) => send.replaceAll('KEY', key))
    .filter(({ length }) => length <= LENGTH_MAX)
  const changed = fc
    .tuple(fc.constantFrom(...texts), fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([text, mutations]) => mutations.reduce((now, mutate) => mutate(now, texts), text))
  const property = fc.asyncProperty(changed, cuts, async (text, places) => {
    await exchange(text)
    await exchange(
      text,
      places.map((place) => within(text.length, place)),
    )
  })
  await fc.assert(property, { seed, numRuns: runs })
  await assertWhole()
}
