import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { seedOfRun } from '../../fixtures/random.ts'
import { checkModel } from './check-model.ts'
import type { Engine } from './real.ts'

/** Tests that an engine agrees with the model, with a new seed each time or the one in SEED. */
export function agreement(
  name: string,
  open: (t: TestContext) => Promise<Engine>,
  runs: number,
): void {
  test(`${name}: any sequence of commands gets the answers of the model`, async (t) => {
    const seed = seedOfRun()
    t.diagnostic(`SEED=${seed}`)
    const engine = await open(t)
    const { report, commands } = await checkModel(engine, { seed, runs })
    assert.equal(report, null)
    const answers = [...engine.answered].map(([status, count]) => `${count} times ${status}`)
    t.diagnostic(`${runs} runs, ${commands} commands: ${answers.toSorted().join(', ')}`)
    assert.deepEqual(new Set(engine.answered.keys()), new Set([200, 401, 429]))
  })
}
