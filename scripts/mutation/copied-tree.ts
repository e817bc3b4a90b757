import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../test/fixtures/tree.ts'

const TIMEOUT_MS = 180_000
const COPIED = [
  'bin',
  'src',
  'client',
  'conform',
  'test',
  'bench',
  'demo',
  'scripts',
  'docs',
  'deploy',
  'package.json',
  'tsconfig.json',
]

/** How many tests of a run failed, and their output. */
export interface Run {
  failed: number
  /** True if the run was ended because a test hung. */
  timedOut: boolean
  output: string
}

/** A copy of the tree for mistakes. It is deleted with this process. */
export interface CopiedTree {
  /** Runs `body` while the file in the copy has this text. */
  withText<T>(file: string, text: string, body: () => Promise<T>): Promise<T>
  runTests(file: string, options?: RunOptions): Promise<Run>
}

interface RunOptions {
  /** Ends the run when a test fails. */
  stopAtFailure?: boolean
}

const running = new Set<ChildProcess>()
const folders: string[] = []
process.once('exit', () => {
  for (const { pid } of running) process.kill(-pid!, 'SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/** `env` is added to the environment of the tests. */
export function copyTree(env: Record<string, string>): CopiedTree {
  const folder = mkdtempSync(join(tmpdir(), 'server-listing-mutation-'))
  folders.push(folder)
  for (const name of COPIED)
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: isSource })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))

  return {
    async withText(file, text, body) {
      const path = join(folder, file)
      const before = readFileSync(path, 'utf8')
      writeFileSync(path, text)
      try {
        return await body()
      } finally {
        writeFileSync(path, before)
      }
    },

    runTests(file, { stopAtFailure = false } = {}) {
      const args = ['--test', '--test-reporter=tap', file]
      return run(spawn(process.execPath, args, childOptions(folder, env)), stopAtFailure)
    },
  }
}

function isSource(path: string): boolean {
  return !path.slice(ROOT.length).includes('node_modules')
}

function childOptions(cwd: string, own: Record<string, string>) {
  // A test runner below another one reports in another format.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return { cwd, env: { ...env, ...own }, detached: true }
}

function run(child: ReturnType<typeof spawn>, stopAtFailure: boolean): Promise<Run> {
  running.add(child)
  const stop = () => {
    if (running.has(child)) process.kill(-child.pid!, 'SIGKILL')
  }
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (stopAtFailure && /^\s*not ok /m.test(text)) stop()
    })
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    stop()
  }, TIMEOUT_MS)
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer)
      running.delete(child)
      const failed = count(output, 'fail') + count(output, 'cancelled')
      resolve({
        failed: code === 0 ? failed : Math.max(failed, 1),
        timedOut,
        output,
      })
    })
  })
}

/** The number on the last line with this name, at the end of the report. */
function count(report: string, name: string): number {
  const numbers = [...report.matchAll(new RegExp(`^# ${name} (\\d+)$`, 'gm'))]
  return Number(numbers.at(-1)?.[1] ?? 0)
}
