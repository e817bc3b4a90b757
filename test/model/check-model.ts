import fc from 'fast-check'
import { keyCommands } from './commands.ts'
import { begin, type Engine } from './real.ts'
import { serverCommands } from './server-commands.ts'

export interface Check {
  seed: number
  runs: number
  /** From the report of a failure, to see that one again. */
  path?: string
  replayPath?: string
  /** Whether a failure is made as small as it can be. */
  shrinks?: boolean
}

const COMMANDS_MAX = 60

export interface Checked {
  /** The seed, the path and the smallest commands that fail, for people; null if none did. */
  report: string | null
  /** How many runs there were until then. */
  runs: number
  commands: number
}

/** Lets the engine and the model do the same at random. */
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
  const property = fc.asyncProperty(fc.boolean(), commands, async (isCrowded, steps) => {
    const setup = await begin(engine, isCrowded)
    await fc.asyncModelRun(() => setup, steps)
    done += [...steps].length
  })
  const options = { seed, path, numRuns: runs, endOnFailure: !shrinks }
  const details = await fc.check(property, options)
  const report = details.failed ? fc.defaultReportMessage(details) : null
  return { report: report ?? null, runs: details.numRuns, commands: done }
}
