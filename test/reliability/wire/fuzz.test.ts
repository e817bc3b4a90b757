import { test } from 'node:test'
import { seedOfRun } from '../../fixtures/random.ts'
import { fuzz } from '../../wire/reference/fuzz.ts'

/* The long run of test/wire/fuzz.test.ts. `npm run fuzz` is the longest. */

const RUNS = 20_000

test(`${RUNS} mutated requests get the reference's answers, however they are cut`, async (t) => {
  const seed = seedOfRun()
  t.diagnostic(`SEED=${seed}`)
  await fuzz(t, seed, RUNS)
})
