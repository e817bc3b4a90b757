import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Battlefield, type NemesisOptions, runNemesis } from './nemesis.ts'
import { freshSeed } from './random.ts'

const FIXED_SEED = 2_026

/** Both are short; and each may end with a fault that all has to come back from. */
export interface Runs {
  ms: number
  last?: { fixed: string; fresh: string }
}

/** A run with a seed that is always the same, and one with another seed each time. */
export function nemesisTests(
  name: string,
  open: (t: TestContext) => Promise<Battlefield>,
  { ms, last }: Runs,
): void {
  run('fixed', FIXED_SEED)
  run('fresh', freshSeed())

  function run(kind: 'fixed' | 'fresh', seed: number): void {
    const options: NemesisOptions = {
      seed,
      ms,
      ...(last === undefined ? {} : { last: last[kind] }),
    }
    test(`${name}, a ${kind} seed: no violation`, async (t) => {
      const { summary, violation } = await runNemesis(await open(t), options)
      t.diagnostic(summary)
      assert.equal(violation, null, violation ?? '')
    })
  }
}
