import { parseArgs } from 'node:util'
import type { Ends } from './ends.ts'
import { missingForMachine } from './machine.ts'
import { runNemesis } from './nemesis.ts'
import { openBattlefield } from './open-battlefield.ts'
import { freshSeed } from './random.ts'

/*
 * npm run nemesis -- --minutes M --seed N --engine sqlite|postgres: a long run, which ends with 1 if anything was seen
 * that is not promised. Without a seed it draws one, and prints it.
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(freshSeed()) },
    engine: { type: 'string', default: 'sqlite' },
  },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)
const { engine } = values
if (
  !(minutes > 0) ||
  !Number.isSafeInteger(seed) ||
  (engine !== 'sqlite' && engine !== 'postgres')
) {
  console.error('usage: npm run nemesis -- [--minutes M] [--seed N] [--engine sqlite|postgres]')
  process.exit(2)
}

const ends: (() => unknown)[] = []
const t: Ends = { after: (end: () => unknown) => void ends.push(end) }
process.once('SIGINT', () => void endAll().then(() => process.exit(130)))
try {
  console.log(`${engine}, seed ${seed}, ${minutes} min`)
  const missing = missingForMachine()
  if (missing !== null) console.log(`without faults of clocks and disks, for want of ${missing}`)
  const { summary, violation } = await runNemesis(await openBattlefield(engine, t, missing), {
    seed,
    ms: minutes * 60_000,
  })
  console.log(summary)
  if (violation !== null) {
    console.log(violation)
    process.exitCode = 1
  }
} finally {
  await endAll()
}

async function endAll(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end()
}
