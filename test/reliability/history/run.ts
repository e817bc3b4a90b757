import { parseArgs } from 'node:util'
import type { Ends } from './battlefield/ends.ts'
import { missingForMachine } from './faults/machine.ts'
import { runBeside } from './lasting.ts'
import { type Run, runNemesis } from './nemesis.ts'
import type { Battlefield } from './traffic/battlefield.ts'
import { floorsMissed } from './floors.ts'
import { openBattlefield } from './battlefield/open-battlefield.ts'
import { seedOfRun } from '../../fixtures/random.ts'
import { reportOn } from './report/report.ts'

/*
 * `npm run nemesis -- --minutes M --seed N --engine sqlite|postgres` runs for a long time and exits
 * with 1 on a violation. Without a seed it draws one and prints it. With `--fault 'row locked'`
 * only this fault happens, and it lasts as long as the run.
 */

const USAGE =
  'usage: npm run nemesis -- [--minutes M] [--seed N] [--engine sqlite|postgres] [--fault NAME]'

const { minutes, seed, engine, fault } = readArguments()

const ends: (() => unknown)[] = []
const t: Ends = { after: (end: () => unknown) => void ends.push(end) }
process.once('SIGINT', () => void endAll().then(() => process.exit(130)))
try {
  console.log(`${engine}, seed ${seed}, ${minutes} min`)
  const missing = missingForMachine()
  if (missing !== null) console.log(`without faults of clocks and disks, for want of ${missing}`)
  const done = await run(await openBattlefield(engine, t, missing), minutes * 60_000)
  const { summary, violation } = reportOn(engine, seed, done)
  console.log(summary)
  const missed = floorsMissed(done)
  if (violation !== null) console.log(violation)
  if (missed.length > 0) console.log(`the run proves little: ${missed.join('; ')}`)
  if (violation !== null || missed.length > 0) process.exitCode = 1
} finally {
  await endAll()
}

/** Reads the arguments, or prints the usage and exits. */
function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: 'string', default: '1' },
        seed: { type: 'string', default: String(seedOfRun()) },
        engine: { type: 'string', default: 'sqlite' },
        fault: { type: 'string' },
        help: { type: 'boolean' },
      },
    })
    if (values.help === true) {
      console.log(USAGE)
      return process.exit(0)
    }
    const { engine, fault } = values
    const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
    if (!(minutes > 0)) throw new Error(`--minutes must be above 0, not "${values.minutes}"`)
    if (!Number.isSafeInteger(seed))
      throw new Error(`--seed must be a whole number, not "${values.seed}"`)
    if (engine !== 'sqlite' && engine !== 'postgres')
      throw new Error(`--engine must be sqlite or postgres, not "${engine}"`)
    return { minutes, seed, engine, fault } as const
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`)
    return process.exit(2)
  }
}

/** Runs all faults, or the named one. */
async function run(battlefield: Battlefield, ms: number): Promise<Run> {
  if (fault === undefined) return runNemesis(battlefield, { seed, ms, pauseMs: 800 })
  const staying = battlefield.staying(ms)
  const named = staying[fault]
  if (named === undefined)
    throw new Error(
      `no fault is called "${fault}"; name one of: ${Object.keys(staying).join(', ')}`,
    )
  return runBeside(battlefield, fault, named, seed)
}

async function endAll(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end()
}
