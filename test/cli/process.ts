import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { within } from '../fixtures/within.ts'
import { type CommandOptions, type Ended, wordsOf } from './command.ts'

const BIN = fileURLToPath(new URL('../../bin/server-listing.js', import.meta.url))

// Without the cache, most of a command's time goes into compiling the same TypeScript again.
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))

/** How a process runs the program. */
export interface ProcessOptions extends Pick<CommandOptions, 'env' | 'stdin'> {
  /** The source of a module that runs in the process before the program. */
  preload?: string
  /** The limit of open files of the process. */
  openFilesMax?: number
  /** The limit of the size of each file that it writes, in bytes: a multiple of 512. */
  fileSizeMax?: number
  /** Sends standard output to this file, such as `/dev/full`. A shell reads it. */
  output?: string
  /** The longest that it takes from a look at `ended` to its end. */
  endsWithinMs?: number
  /** Runs the command on a terminal: `stdin` is typed, and `stdout` is what the terminal shows. */
  onTerminal?: boolean
}

export interface EndedProcess extends Ended {
  signal: NodeJS.Signals | null
}

/** A running command. */
export interface Begun {
  pid: number
  /** The output so far. */
  stdout(): string
  stderr(): string
  /** Stops reading standard output, so that the pipe fills up. */
  stopReading(): void
  continueReading(): void
  /** Closes the pipe, as a reader that ends. */
  leave(): void
  /** Resolves when standard output matches. */
  written(wanted: RegExp): Promise<void>
  kill(signal: NodeJS.Signals): void
  /** Fails 30 seconds after the first look if the command has not ended. */
  readonly ended: Promise<EndedProcess>
}

/** Starts the program as a process in `folder`. */
export type Begin = (args: string | readonly string[], options: ProcessOptions) => Begun

/** Prints the modules of Node.js that are loaded when the process exits. */
export const PRINT_LOADED = `process.on('exit', () => console.error(process.moduleLoadList.join(' ')))`

/**
 * Starts processes of the program in `folder`, and kills the running ones after the test. `bin` is
 * another copy of the program's file, such as that of a packed package.
 */
export function startIn(t: Pick<TestContext, 'after'>, folder: string, bin = BIN): Begin {
  const children: ChildProcess[] = []
  t.after(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await within(`the end of ${child.spawnfile}`, once(child, 'exit'))
    }
  })
  return (args, options) => {
    const [file, ...rest] = commandLine(bin, wordsOf(args), options)
    const env = { NODE_COMPILE_CACHE: COMPILE_CACHE, ...options.env }
    const child = spawn(file!, rest, { cwd: folder, env, stdio: 'pipe' })
    children.push(child)
    // A program that does not read its input closes the pipe.
    child.stdin.on('error', () => {})
    child.stdin.end(options.stdin ?? '')
    return watch(child, options.endsWithinMs)
  }
}

/** The command line that runs the program in `bin`, with the `--` of its first line. */
function commandLine(bin: string, args: readonly string[], options: ProcessOptions): string[] {
  const { preload } = options
  const before =
    preload === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(preload)}`]
  const program = [process.execPath, ...before, '--', bin, ...args]
  const command = [...limit(options), ...redirect(options), ...program]
  return options.onTerminal ? onTerminal(command) : command
}

/** `script` gives the command a terminal of its own. */
function onTerminal(command: readonly string[]): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  return ['script', '--quiet', '--return', '--command', quoted.join(' '), '/dev/null']
}

/** A prefix that limits the files of a command. */
function limit({ openFilesMax, fileSizeMax }: ProcessOptions): string[] {
  const limits = [
    ...(openFilesMax === undefined ? [] : [`ulimit -n ${openFilesMax}`]),
    ...(fileSizeMax === undefined ? [] : [`ulimit -f ${fileSizeMax / 512}`]),
  ]
  if (limits.length === 0) return []
  return ['/bin/sh', '-c', [...limits, 'exec "$@"'].join(' && '), 'sh']
}

function redirect({ output }: ProcessOptions): string[] {
  return output === undefined ? [] : ['/bin/sh', '-c', `exec "$@" > ${output}`, 'sh']
}

function watch(child: ChildProcess, endsWithinMs?: number): Begun {
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const ended = once(child, 'close').then(([code, signal]): EndedProcess => {
    return { code, signal, stdout, stderr }
  })

  const what = child.spawnargs.join(' ')

  async function read(wanted: RegExp): Promise<void> {
    while (!wanted.test(stdout)) {
      const next = await Promise.race([once(child.stdout!, 'data'), ended])
      if (!Array.isArray(next) && !wanted.test(stdout))
        assert.fail(`ended without having written ${wanted}: ${stdout}${stderr}`)
    }
  }

  return {
    pid: child.pid!,
    stopReading: () => void child.stdout!.pause(),
    continueReading: () => void child.stdout!.resume(),
    leave: () => void child.stdout!.destroy(),
    stdout: () => stdout,
    stderr: () => stderr,
    written: (wanted) => within(`${wanted} in the output of ${what}`, read(wanted)),
    kill: (signal) => child.kill(signal),
    get ended() {
      return within(`the end of ${what}`, ended, endsWithinMs)
    },
  }
}
