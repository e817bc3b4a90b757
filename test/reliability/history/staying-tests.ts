import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { floorsMissed } from './floors.ts'
import { runBeside } from './lasting.ts'
import type { Battlefield } from './traffic/battlefield.ts'
import { seedOfRun } from '../../fixtures/random.ts'
import { reportOn } from './report/report.ts'

/** Tests one run for each of these faults, which lasts this many milliseconds. */
export function stayingTests(
  names: readonly string[],
  open: (t: TestContext) => Promise<Battlefield>,
  ms: number,
): void {
  for (const name of names)
    test(`${name} for ${ms / 1_000} s: the service serves every key that it does not touch`, async (t) => {
      const seed = seedOfRun()
      const battlefield = await open(t)
      const run = await runBeside(battlefield, name, battlefield.staying(ms)[name]!, seed)
      const { summary, violation } = reportOn(battlefield.engine, seed, run)
      t.diagnostic(summary)
      assert.equal(violation, null, violation ?? '')
      assert.deepEqual(floorsMissed(run), [])
    })
}
