import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../fixtures/folder.ts'
import { commandLine, type ProcessOptions } from './command-line.ts'

const BIN = fileURLToPath(new URL('../../bin/server-listing.js', import.meta.url))

// Without the cache, most of a command's time goes into compiling the same TypeScript again.
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))

/** The system picks the ports. */
const FREE_PORTS = { PORT: '0', DASHBOARD_PORT: '0', OPS_PORT: '0' }

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface RunOptions extends ProcessOptions {
  /**
   * Added to DATABASE_URL and to 0 for PORT, DASHBOARD_PORT and OPS_PORT. No other setting of the
   * program is inherited.
   */
  env?: Record<string, string>
  stdin?: string | Uint8Array
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
  /** Resolves when standard output matches. */
  written(wanted: RegExp): Promise<void>
  kill(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

/** The service in its own process. */
export interface Served extends Begun {
  port: number
}

/** The real program, as a child process with its own directory and database file. */
export interface Program {
  folder: string
  databasePath: string
  /** The last line of each command that writes to this file. */
  place: string
  /** Splits `args` at spaces if it is a string. */
  run(args: string | readonly string[], options?: RunOptions): Promise<Ended>
  /** Runs a command that must succeed. Returns its standard output without the last newline. */
  done(args: string | readonly string[], options?: RunOptions): Promise<string>
  /** Starts a command without waiting for its end. */
  begin(args: string | readonly string[], options?: RunOptions): Begun
  serve(options?: RunOptions): Promise<Served>
}

/** `bin` is another copy of the program's file, such as that of a packed package. */
export function programIn(t: Pick<TestContext, 'after'>, bin = BIN): Program {
  const children: ChildProcess[] = []
  t.after(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })
  const folder = temporaryFolder(t)
  const databasePath = join(folder, 'data', 'listing.db')

  function start(args: string | readonly string[], options: RunOptions): ChildProcess {
    const { env = {} } = options
    const words = typeof args === 'string' ? args.split(' ').filter((word) => word !== '') : args
    const [file, ...rest] = commandLine(bin, words, options)
    const child = spawn(file!, rest, {
      cwd: folder,
      env: {
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        DATABASE_URL: `sqlite:${databasePath}`,
        ...FREE_PORTS,
        ...env,
      },
      stdio: 'pipe',
    })
    children.push(child)
    // A program that does not read its input closes the pipe.
    child.stdin?.on('error', () => {})
    child.stdin?.end(options.stdin ?? '')
    return child
  }

  async function run(args: string | readonly string[], options: RunOptions = {}): Promise<Ended> {
    const child = start(args, options)
    const [[code, signal], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stdout!),
      text(child.stderr!),
    ])
    return { code, signal, stdout, stderr }
  }

  return {
    folder,
    databasePath,
    place: `database: ${databasePath}\n`,
    run,

    async done(args, options) {
      const ended = await run(args, options)
      assert.equal(ended.code, 0, `${String(args)}: ${ended.stderr}`)
      return ended.stdout.replace(/\n$/, '')
    },

    begin: (args, options = {}) => watch(start(args, options)),

    async serve(options = {}) {
      const served = watch(start('serve', options))
      await served.written(/listening on/)
      const port = Number(/listening on http:\/\/[^\s"]*:(\d+)/.exec(served.stdout())?.[1])
      return { ...served, port }
    },
  }
}

function watch(child: ChildProcess): Begun {
  let stdout = ''
  let stderr = ''
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    return { code, signal, stdout, stderr }
  })

  async function written(wanted: RegExp): Promise<void> {
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
    stdout: () => stdout,
    stderr: () => stderr,
    written,
    kill: (signal) => child.kill(signal),
    ended,
  }
}

/**
 * Asserts an error for people: the exit code, empty standard output, sentences on standard error,
 * no stack.
 */
export function assertRefused(
  ended: Ended,
  code: 1 | 2 | 78,
  ...wanted: (RegExp | string)[]
): void {
  assert.equal(ended.code, code, ended.stderr)
  assert.equal(ended.stdout, '')
  assert.match(ended.stderr, /^error: /)
  assert.doesNotMatch(ended.stderr, /\n\s+at |node:internal|\.ts:\d/)
  for (const part of wanted) {
    if (typeof part === 'string') assert.ok(ended.stderr.includes(part), ended.stderr)
    else assert.match(ended.stderr, part)
  }
}

/** Parses each line of a log. */
export function logLines(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
