import type { TestContext } from 'node:test'
import { type Commands, commandsIn, environmentOf, mustSucceed } from './command.ts'
import { type Begun, type ProcessOptions, startIn } from './process.ts'

/** Commands, and processes of the program on the same database. */
export interface Program extends Commands, Processes {}

/** A copy of the program elsewhere. All of its commands are processes. */
export interface InstalledProgram extends Commands<ProcessOptions>, Processes {}

interface Processes {
  /** Starts a command as a process in the folder: for signals, pipes, terminals and locks. */
  begin(args: string | readonly string[], options?: ProcessOptions): Begun
  serve(options?: ProcessOptions): Promise<Served>
}

/** The service in its own process. */
export interface Served extends Begun {
  port: number
}

export function programIn(t: Pick<TestContext, 'after'>): Program {
  const commands = commandsIn(t)
  return { ...commands, ...processesFor(t, commands) }
}

/** The program in the file `bin`, such as that of a packed package. */
export function installedProgramIn(t: Pick<TestContext, 'after'>, bin: string): InstalledProgram {
  const commands = commandsIn(t)
  const processes = processesFor(t, commands, bin)
  const run: InstalledProgram['run'] = (args, options) => processes.begin(args, options).ended
  return { ...commands, ...processes, run, done: mustSucceed(run) }
}

function processesFor(
  t: Pick<TestContext, 'after'>,
  { folder, databasePath }: Pick<Commands, 'folder' | 'databasePath'>,
  bin?: string,
): Processes {
  const start = startIn(t, folder, bin)
  const begin: Processes['begin'] = (args, options = {}) =>
    start(args, { ...options, env: environmentOf(databasePath, options) })
  return {
    begin,

    async serve(options) {
      const served = begin('serve', options)
      await served.written(/listening on/)
      const port = Number(/listening on http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())?.[1])
      return Object.assign(served, { port })
    },
  }
}

/** Parses each line of a log. */
export function logLines(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
