import { parseArgs } from 'node:util'
import { startCluster } from '../fixtures/postgres-cluster.ts'
import type { Ends } from './ends.ts'
import { missingForMachine } from './machine.ts'
import { type Battlefield, runNemesis } from './nemesis.ts'
import { openPostgresBattlefield, openPostgresMachine } from './postgres-battlefield.ts'
import { freshSeed } from './random.ts'
import { openSqliteBattlefield, openSqliteMachine } from './sqlite-battlefield.ts'

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
if (
  !(minutes > 0) ||
  !Number.isSafeInteger(seed) ||
  !['sqlite', 'postgres'].includes(values.engine)
) {
  console.error('usage: npm run nemesis -- [--minutes M] [--seed N] [--engine sqlite|postgres]')
  process.exit(2)
}

const ends: (() => unknown)[] = []
const t: Ends = { after: (end: () => unknown) => void ends.push(end) }
process.once('SIGINT', () => void endAll().then(() => process.exit(130)))
try {
  console.log(`${values.engine}, seed ${seed}, ${minutes} min`)
  const { summary, violation } = await runNemesis(await open(), { seed, ms: minutes * 60_000 })
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

async function open(): Promise<Battlefield> {
  const missing = missingForMachine()
  if (missing !== null) console.log(`without faults of clocks and disks, for want of ${missing}`)
  if (values.engine === 'sqlite')
    return missing === null ? openSqliteMachine(t) : openSqliteBattlefield(t)
  if (missing === null) return openPostgresMachine(t)
  const cluster = await startCluster()
  t.after(cluster.remove)
  return openPostgresBattlefield(t, cluster)
}
