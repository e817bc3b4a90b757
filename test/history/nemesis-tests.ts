import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Battlefield, runNemesis } from './nemesis.ts'
import { freshSeed } from './random.ts'

const RUN_MS = 12_500
const FIXED_SEED = 2_026

/** A short run with a seed that is always the same, and one with another seed each time. */
export function nemesisTests(open: (t: TestContext) => Promise<Battlefield>): void {
  for (const [kind, seed] of [
    ['a fixed seed', FIXED_SEED],
    ['a fresh seed', freshSeed()],
  ] as const)
    test(`${kind}: no violation`, async (t) => {
      const { summary, violation } = await runNemesis(await open(t), seed, RUN_MS)
      t.diagnostic(summary)
      assert.equal(violation, null, violation ?? '')
    })
}
