import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readKept } from './guided/kept.ts'
import { startCounterpart } from './reference/exchange.ts'

/*
 * The inputs that `npm run fuzz -- --guided` has kept. Each reaches a part of `src/http/`, or runs
 * it as often, as no handwritten case does.
 */

const INPUTS = readKept()

test(`${INPUTS.length} kept inputs get the reference's answers, whole and in their pieces`, async (t) => {
  const { key, exchange, assertWhole } = await startCounterpart(t)
  assert.ok(INPUTS.length > 0)
  for (const input of INPUTS) {
    const pieces = input.map((piece) => piece.replaceAll('KEY', key))
    const text = pieces.join('')
    await exchange(text)
    await exchange(
      text,
      pieces.slice(1).map((_, index) => pieces.slice(0, index + 1).join('').length),
    )
  }
  await assertWhole()
})
