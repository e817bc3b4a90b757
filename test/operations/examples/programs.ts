import assert from 'node:assert/strict'
import { type ExecFileException, execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { snippetsFor } from '../../../src/keys/pages/snippets.ts'
import { ROOT } from '../../fixtures/tree.ts'

const GO = '/usr/lib/go-1.19/bin/go'
/** These options halve the CPU time of a program that ends soon. */
const JAVA = ['/usr/bin/java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']

/** A program that we show to people who call the API. */
export interface Program {
  name: string
  /** The file in docs/examples/, or null for a client on the dashboard's pages. */
  example: string | null
  ending: string
  /** The source. Only the dashboard's clients have the URL in it. */
  code(baseUrl: string): string
  /** What runs the source; empty for the example in Go, which is built. */
  runner: string[]
  /** How the source says ten seconds, and one second. */
  timeout: [string, string]
  /** How often it asks at most, if the service never answers in time. */
  triesOfSilence: number
  /** True if it keeps the last list in a file, for pages that run it for each visitor. */
  keeps: boolean
}

export const PROGRAMS: Program[] = [
  example('poll.sh', ['/bin/sh'], ['--max-time 10', '--max-time 1']),
  example('poll.py', ['/usr/bin/python3'], ['timeout=10', 'timeout=1']),
  example('poll.ts', [process.execPath], ['timeout(10_000)', 'timeout(1_000)']),
  example('poll.go', [], ['10 * time.Second', '1 * time.Second']),
  example('poll.java', JAVA, ['ofSeconds(10)', 'ofSeconds(1)']),
  client('curl', ['/bin/sh'], ['--max-time 10', '--max-time 1'], 5),
  client('javascript', [process.execPath], ['timeout(10_000)', 'timeout(1_000)'], 1),
  client('python', ['/usr/bin/python3'], ['timeout=10', 'timeout=1'], 1),
  client('php', ['/usr/bin/php'], [`'timeout' => 10`, `'timeout' => 1`], 1),
]

function example(file: string, runner: string[], timeout: [string, string]): Program {
  const code = () => readFileSync(join(ROOT, 'docs/examples', file), 'utf8')
  return {
    name: `the example ${file}`,
    example: file,
    ending: extname(file),
    code,
    runner,
    timeout,
    triesOfSilence: 5,
    keeps: false,
  }
}

function client(
  id: string,
  runner: string[],
  timeout: [string, string],
  triesOfSilence: number,
): Program {
  const code = (baseUrl: string) =>
    snippetsFor(baseUrl)
      .flatMap(({ blocks }) => blocks)
      .find((block) => block.id === id)!.code
  return {
    name: `the client ${id}`,
    example: null,
    ending: '.mjs',
    code,
    runner,
    timeout,
    triesOfSilence,
    keeps: triesOfSilence === 1,
  }
}

export interface Ended {
  code: ExecFileException['code']
  stdout: string
  stderr: string
}

export interface Started {
  baseUrl: string
  key: string
  args?: string[]
  /** Gives up after one second instead of ten. */
  isHasty?: boolean
  /** More of its environment. */
  env?: Record<string, string>
}

/** Runs programs from a folder of their own. */
export interface Programs {
  run(program: Program, started: Started): Promise<Ended>
  remove(): void
}

export async function preparePrograms(): Promise<Programs> {
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-programs-'))
  // Built without blocking this process, which runs the services.
  for (const isHasty of [false, true]) await build(folder, isHasty)
  let count = 0
  return {
    remove: () => rmSync(folder, { recursive: true, force: true }),

    run({ code, runner, timeout, ending }, { baseUrl, key, args = [], isHasty = false, env = {} }) {
      count += 1
      let path = join(folder, `${count}${ending}`)
      if (runner.length === 0) path = builtPath(folder, isHasty)
      else writeFileSync(path, timed(code(baseUrl), timeout, isHasty))
      const [file, ...before] = [...runner, path]
      const given = { BASE_URL: baseUrl, SERVER_LISTING_KEY: key, TMPDIR: folder, ...env }
      const options = { env: { PATH: '/usr/bin:/bin', ...given } }
      return new Promise((resolve) => {
        execFile(file, [...before, ...args], options, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
        )
      })
    },
  }
}

async function build(folder: string, isHasty: boolean): Promise<void> {
  const { code, timeout } = PROGRAMS.find(({ runner }) => runner.length === 0)!
  const path = builtPath(folder, isHasty)
  writeFileSync(`${path}.go`, timed(code(''), timeout, isHasty))
  const env = { PATH: '/usr/bin:/bin', GOCACHE: join(folder, 'cache'), GO111MODULE: 'off' }
  await promisify(execFile)(GO, ['build', '-o', path, `${path}.go`], { env })
}

function builtPath(folder: string, isHasty: boolean): string {
  return join(folder, isHasty ? 'hasty' : 'poll')
}

function timed(source: string, [usual, hasty]: [string, string], isHasty: boolean): string {
  assert.ok(source.includes(usual), `the source has no ${usual}`)
  return isHasty ? source.replace(usual, hasty) : source
}
