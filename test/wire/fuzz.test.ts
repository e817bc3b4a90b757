import { test } from 'node:test'
import * as fc from 'fast-check'
import { freshSeed } from '../history/random.ts'
import { CORPUS } from './corpus/corpus.ts'
import { startCounterpart } from './reference/exchange.ts'
import { cuts, mutation, within } from './reference/mutation.ts'

/*
 * The cases written by hand, changed at random: a second reading of what comes of it tells the answer.
 */

const RUNS = 2_000
/** Longer ones are about their length. */
const LENGTH_MAX = 1_500
/** A line of HTTP/0.9 may end in LF alone, to the parser; it is refused all the same, in another form. */
const OLDEST = /(?:CONNECT|HEAD) +[!-~]*\n/

test(`${RUNS} texts that are nearly requests have the answers of the reference, however they are cut`, async (t) => {
  const { key, exchange, assertWhole } = await startCounterpart(t)
  const texts = Object.values(CORPUS)
    .flat()
    .map(({ send }) => send.replaceAll('KEY', key))
    .filter(({ length }) => length <= LENGTH_MAX)
  const changed = fc
    .tuple(fc.constantFrom(...texts), fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([text, mutations]) => mutations.reduce((now, mutate) => mutate(now, texts), text))
    .filter((text) => !OLDEST.test(text))

  const seed = freshSeed()
  t.diagnostic(`seed ${seed}`)
  const property = fc.asyncProperty(changed, cuts, async (text, places) => {
    await exchange(text)
    await exchange(
      text,
      places.map((place) => within(text.length, place)),
    )
  })
  await fc.assert(property, { seed, numRuns: RUNS })
  await assertWhole()
})
