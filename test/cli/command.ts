import assert from 'node:assert/strict'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { run } from '../../src/cli/run.ts'
import { within } from '../fixtures/within.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

/** The system picks the ports. */
const FREE_PORTS = { PORT: '0', DASHBOARD_PORT: '0', OPS_PORT: '0' }

export interface CommandOptions {
  /** The environment. That of the test has no effect. */
  env?: Readonly<Record<string, string>>
  stdin?: string | Uint8Array
  /** Standard error passes for a terminal. */
  hasTerminal?: boolean
}

/** The exit code and output of a command. */
export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/**
 * Runs a command in this process, which takes less time than another process. Splits `args` at
 * spaces if it is a string. Relative paths begin at the folder of the test run.
 */
export async function runCommand(
  args: string | readonly string[],
  { env = {}, stdin = '', hasTerminal = false }: CommandOptions = {},
): Promise<Ended> {
  const [stdout, stderr] = [catchOutput(), catchOutput()]
  const ends = run(wordsOf(args), {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: stdout.stream,
    stderr: Object.assign(stderr.stream, { isTTY: hasTerminal }),
    env: { ...env },
  })
  const code = await within(`the end of ${String(args)}`, ends)
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

export function wordsOf(args: string | readonly string[]): readonly string[] {
  return typeof args === 'string' ? args.split(' ').filter((word) => word !== '') : args
}

function catchOutput(): { stream: Writable; text(): string } {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

/**
 * Commands with a folder and a database file of their own, which run in this process. They get the
 * `env` of their options, added to DATABASE_URL and to 0 for PORT, DASHBOARD_PORT and OPS_PORT.
 */
export interface Commands<RunOptions = CommandOptions> {
  folder: string
  databasePath: string
  /** The last line of each command that writes to this file. */
  place: string
  /** Splits `args` at spaces if it is a string. */
  run(args: string | readonly string[], options?: RunOptions): Promise<Ended>
  /** Runs a command that must succeed. Returns its standard output without the last newline. */
  done(args: string | readonly string[], options?: RunOptions): Promise<string>
}

export function commandsIn(t: Pick<TestContext, 'after'>): Commands {
  const folder = temporaryFolder(t)
  const databasePath = join(folder, 'data', 'listing.db')
  const run: Commands['run'] = (args, options = {}) =>
    runCommand(args, { ...options, env: environmentOf(databasePath, options) })
  const place = `database: ${databasePath}\n`
  return { folder, databasePath, place, run, done: mustSucceed(run) }
}

export function mustSucceed<RunOptions>(
  run: Commands<RunOptions>['run'],
): Commands<RunOptions>['done'] {
  return async (args, options) => {
    const ended = await run(args, options)
    assert.equal(ended.code, 0, `${String(args)}: ${ended.stderr}`)
    return ended.stdout.replace(/\n$/, '')
  }
}

export function environmentOf(
  databasePath: string,
  { env }: Pick<CommandOptions, 'env'>,
): Record<string, string> {
  return { DATABASE_URL: `sqlite:${databasePath}`, ...FREE_PORTS, ...env }
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
