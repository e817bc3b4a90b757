import fc from 'fast-check'
import { keyCommands } from './commands.ts'
import { begin, type Engine } from './real.ts'
import { serverCommands } from './server-commands.ts'

export interface Check {
  seed: number
  runs: number
  /** From the report of a failure, to repeat it. */
  path?: string
  replayPath?: string
  /** Whether to shrink a failure to the fewest commands. */
  shrinks?: boolean
}

const COMMANDS_MAX = 60

export interface Checked {
  /**
   * The seed, the path and the shrunk commands of a failure, for the reader; null if there is none.
   */
  report: string | null
  /** The number of runs so far. */
  runs: number
  commands: number
  /** The number of calls that the store failed in the first run with a difference. */
  faults: number
}

/** Runs random commands on the engine and on the model. */
export async function checkModel(
  engine: Engine,
  { seed, runs, path = '', replayPath, shrinks = true }: Check,
): Promise<Checked> {
  const commands = fc.commands([...keyCommands(), ...serverCommands()], {
    maxCommands: COMMANDS_MAX,
    size: 'max',
    ...(replayPath === undefined ? {} : { replayPath }),
  })
  let done = 0
  let faults: number | null = null
  const property = fc.asyncProperty(fc.boolean(), commands, async (isCrowded, steps) => {
    const setup = await begin(engine, isCrowded)
    try {
      await fc.asyncModelRun(() => setup, steps)
    } catch (error) {
      // Shrinking may turn up another failure, so only the first one counts.
      faults ??= setup.real.faults.length
      throw error
    }
    done += [...steps].length
  })
  const options = { seed, path, numRuns: runs, endOnFailure: !shrinks }
  const details = await fc.check(property, options)
  const report = details.failed ? fc.defaultReportMessage(details) : null
  return { report: report ?? null, runs: details.numRuns, commands: done, faults: faults ?? 0 }
}
