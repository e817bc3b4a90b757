import { test } from 'node:test'
import { seedOfRun } from '../fixtures/random.ts'
import { fuzz } from './reference/fuzz.ts'

/* test/reliability/wire/fuzz.test.ts sends twenty times as many. */

const RUNS = 1_000

test(`${RUNS} mutated requests get the reference's answers, however they are cut`, async (t) => {
  const seed = seedOfRun()
  t.diagnostic(`SEED=${seed}`)
  await fuzz(t, seed, RUNS)
})
