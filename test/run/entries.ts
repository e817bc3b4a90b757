import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/*
 * Starting Node.js and loading the program take longer than most test files. So the files of a
 * folder share a process, except those that start processes of their own.
 */

const ROOT = new URL('../../', import.meta.url)

/** Modules that start programs. */
const STARTS_PROCESSES =
  /^(?:import|export|\}).* from '(?:node:child_process|node:cluster|playwright-core)'$/m

/** The seconds that a file may usually take without a line in the table of usual times. */
export const SHORT_S = 10

/** The usual seconds of the longer files. `TIMES=1 npm test` writes those of the files it runs. */
const usualTimes: Record<string, number> = JSON.parse(
  readFileSync(new URL('times.json', import.meta.url), 'utf8'),
)

/** How many times longer than usual a run may take, for a slow machine or an emulated one. */
export const SLOWER = Number(process.env.SLOWER ?? 1)

/** Variables that make a run longer, and the one that writes the table. */
const LONGER = ['TIMES', 'SEQUENCES', 'RESTARTS', 'SECONDS', 'SEED']

/** It starts a server only for a file that runs alone. */
const SHARED_SERVER = resolve('test/fixtures/postgres/server.ts')

const RELATIVE_IMPORTS = /^(?:import|export|\}).* from '(\.[^']+)'$/gm

/** The name of a generated entry. The reporter takes its outermost suites for files. */
export const FOLDER_ENTRY = /\.folder\.mjs$/

/**
 * What the test runner starts for these test files: generated entries, written to `folder`, each
 * for a process of its own. Files that start processes, or all if `separately`, share none.
 */
export function entriesFor(files: readonly string[], folder: string, separately = false): string[] {
  const groups = Map.groupBy(files, (file) =>
    separately || startsProcesses(resolve(file)) ? file : dirname(file),
  )
  return [...groups].map(([name, shared]) => {
    const entry = join(folder, `${name.replaceAll('/', '-')}.folder.mjs`)
    // Two groups never share an entry.
    writeFileSync(entry, entryOf(shared), { flag: 'wx' })
    return entry
  })
}

/**
 * Each file is a suite, so that its hooks concern only its own tests, and with a limit of time. Its
 * name is on the disk while it runs, because the messages of a process that crashes are lost.
 */
export function entryOf(files: readonly string[], root = ROOT, limitMs = limitOf): string {
  const suites = files.map((file) => {
    const { href } = new URL(file, root)
    return `suite('${file}', { timeout: ${limitMs(file)} }, async () => {
  before(() => writeFileSync(import.meta.filename + '.running', '${file}'))
  await import('${href}')
})`
  })
  const imports = [
    `import { writeFileSync } from 'node:fs'`,
    `import { before, suite } from 'node:test'`,
  ]
  return [...imports, ...suites, ''].join('\n')
}

/** The longest time for a file, in milliseconds: three times its usual time, once it is known. */
function limitOf(file: string): number {
  if (LONGER.some((name) => process.env[name] !== undefined)) return Infinity
  return SLOWER * 3_000 * Math.max(usualTimes[file] ?? 0, SHORT_S)
}

/** The file whose tests an entry has begun last, or null. */
export function fileRunIn(entry: string): string | null {
  const note = `${entry}.running`
  return existsSync(note) ? readFileSync(note, 'utf8') : null
}

const answers = new Map<string, boolean>()

/** True if the file or a test file that it imports can start a program. */
function startsProcesses(path: string): boolean {
  const known = answers.get(path)
  if (known !== undefined) return known
  answers.set(path, false)
  const answer = searchProcesses(path)
  answers.set(path, answer)
  return answer
}

function searchProcesses(path: string): boolean {
  if (path === SHARED_SERVER) return false
  const text = readFileSync(path, 'utf8')
  if (STARTS_PROCESSES.test(text)) return true
  return (
    [...text.matchAll(RELATIVE_IMPORTS)]
      .map(([, name]) => resolve(dirname(path), name!))
      // A template can contain imports of a program that a test writes.
      .filter((target) => target.startsWith(resolve('test')) && /\.[jt]s$/.test(target))
      .filter((target) => existsSync(target))
      .some((target) => startsProcesses(target))
  )
}
