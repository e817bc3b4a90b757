import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { checkModel } from './check-model.ts'
import type { Engine } from './real.ts'

/** What does not agree does so again; a machine that stood still, and ran into the service's limits of time, does not. */
const TRIES_MAX = 3

/** That an engine does what the model does, with another seed each time. */
export function agreement(
  name: string,
  open: (t: TestContext) => Promise<Engine>,
  runs: number,
): void {
  test(`${name}: whatever is done in whatever order, the answers are those of the model`, async (t) => {
    const seed = randomInt(2 ** 31)
    t.diagnostic(`seed ${seed}`)
    const engine = await open(t)
    let { report, commands } = await checkModel(engine, { seed, runs })
    for (let tries = 1; report !== null && tries < TRIES_MAX; tries += 1) {
      t.diagnostic(report)
      ;({ report, commands } = await checkModel(engine, { seed, runs }))
    }
    assert.equal(report, null)
    const answers = [...engine.answered].map(([status, count]) => `${count} times ${status}`)
    t.diagnostic(`${runs} runs, ${commands} commands: ${answers.toSorted().join(', ')}`)
    assert.deepEqual(new Set(engine.answered.keys()), new Set([200, 401, 429]))
  })
}
