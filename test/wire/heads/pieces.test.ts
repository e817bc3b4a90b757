import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readHead } from '../../../src/http/head.ts'
import { LIMITS } from '../../../src/http/limits.ts'
import { seedOfRun } from '../../fixtures/random.ts'
import { CORPUS } from '../corpus/corpus.ts'
import { FRAMED } from '../generated/framings.ts'
import { ODD_FIELDS, ODD_LINES } from '../generated/odd-bytes.ts'
import { mutation } from '../reference/mutation.ts'

/*
 * A head that arrives in pieces. The reader sees each beginning of a text. It may say that a
 * beginning is incomplete; what else it says must hold for the whole text, too.
 */

const LENGTH_MAX = 2_000
const RUNS = 2_000

const CASES = Object.values(CORPUS)
  .flat()
  .map(({ send }) => send)

test('every case of the corpus, cut at every byte, is read as if it were whole', () => {
  for (const text of CASES.filter(({ length }) => length <= LENGTH_MAX)) assertCuttable(text)
})

test('a long case, cut at a hundred places, is read as if it were whole', () => {
  for (const text of CASES.filter(({ length }) => length > LENGTH_MAX))
    assertCuttable(text, Math.ceil(text.length / 100))
})

test('generated heads, cut at every byte, are read as if they were whole', () => {
  for (const text of [...ODD_FIELDS, ...ODD_LINES, ...FRAMED]) assertCuttable(text)
})

test(`${RUNS} mutated heads, cut at every byte, are read as if they were whole`, (t) => {
  const seed = seedOfRun()
  t.diagnostic(`SEED=${seed}`)
  const texts = CASES.filter(({ length }) => length <= LENGTH_MAX)
  const mutated = fc
    .tuple(fc.constantFrom(...texts), fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([text, mutations]) => mutations.reduce((now, mutate) => mutate(now, texts), text))
  fc.assert(
    fc.property(mutated, (text) => assertCuttable(text)),
    { seed, numRuns: RUNS },
  )
})

function assertCuttable(text: string, step = 1): void {
  const whole = readHead(text, 0, LIMITS)
  let isDecided = false
  for (let length = 0; length <= text.length; length += step) {
    const part = readHead(text.slice(0, length), 0, LIMITS)
    if (part === null && !isDecided) continue
    isDecided = true
    assert.deepEqual(part, whole, `${JSON.stringify(text)}, the first ${length} bytes`)
  }
}
