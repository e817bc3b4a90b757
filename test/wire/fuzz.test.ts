import { test } from 'node:test'
import { seedOfRun } from '../fixtures/random.ts'
import { fuzz } from './reference/fuzz.ts'

const RUNS = 2_000

test(`${RUNS} mutated requests get the reference's answers, however they are cut`, async (t) => {
  const seed = seedOfRun()
  t.diagnostic(`SEED=${seed}`)
  await fuzz(t, seed, RUNS)
})
