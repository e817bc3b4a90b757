import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { floorsMissed } from './floors.ts'
import { type NemesisOptions, runNemesis } from './nemesis.ts'
import type { Battlefield } from './traffic/battlefield.ts'
import { seedOfRun } from '../../fixtures/random.ts'
import { reportOn } from './report/report.ts'

const FIXED_SEED = 2_026

/** Both runs are short. Each may end with a fault from which everything must recover. */
export interface Runs extends Pick<NemesisOptions, 'ms' | 'pauseMs'> {
  last?: { fixed: string; fresh: string }
}

/** Tests one run with a fixed seed and one with a new seed each time. */
export function nemesisTests(
  name: string,
  open: (t: TestContext) => Promise<Battlefield>,
  { last, ...times }: Runs,
): void {
  run('fixed', FIXED_SEED)
  run('fresh', seedOfRun())

  function run(kind: 'fixed' | 'fresh', seed: number): void {
    const options = { ...times, seed, ...(last === undefined ? {} : { last: last[kind] }) }
    test(`${name}, a ${kind} seed: the checker finds no violation`, async (t) => {
      const battlefield = await open(t)
      const done = await runNemesis(battlefield, options)
      const { summary, violation } = reportOn(battlefield.engine, seed, done)
      t.diagnostic(summary)
      assert.equal(violation, null, violation ?? '')
      assert.deepEqual(floorsMissed(done), [])
    })
  }
}
