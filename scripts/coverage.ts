import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/*
 * Every branch that a request can take is taken by a test: `npm run coverage`. It runs the suites nearest to that code,
 * prints the branches that none of them took, and fails if there is one.
 */

const COVERED = [
  'src/listing/*.ts',
  'src/api/*.ts',
  'src/http/*.ts',
  ...['clock', 'database', 'recent-uses', 'use-queue', 'uses'].map(
    (name) => `src/sqlite/${name}.ts`,
  ),
  ...['database', 'hosts', 'use-connection', 'use-queue', 'use-statements', 'uses'].map(
    (name) => `src/postgres/${name}.ts`,
  ),
]

/** Without those that say the same ten thousand times. */
const SUITES = [
  ...['listing', 'api', 'sqlite', 'contract'].map((folder) => `test/${folder}/*.test.ts`),
  ...tests(
    'wire',
    'closing',
    'connections',
    'corpus',
    'head',
    'limits',
    'pending',
    'timeouts',
    'unparsed',
  ),
  ...tests(
    'postgres',
    'batches',
    'configuration',
    'database',
    'hosts',
    'hosts-of',
    'owners-by-key',
    'use-connection',
    'use-queue',
  ),
]

/** What no test can reach, by the text of its line. An entry that no longer names such a branch fails, too. */
const UNREACHED = [
  {
    file: 'src/http/listen.ts',
    line: 'if (connection.isClosing) return',
    reason:
      'the parser makes no requests of what comes after the last; should a Node.js do so all the same',
  },
  {
    file: 'src/sqlite/uses.ts',
    line: '} catch {',
    reason: 'a ROLLBACK that fails takes a disk that fails between two statements',
  },
]

const folder = mkdtempSync(join(tmpdir(), 'server-listing-coverage-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const report = join(folder, 'lcov.info')
const { status } = spawnSync(
  'node',
  [
    '--test',
    '--test-concurrency=2',
    '--experimental-test-coverage',
    ...COVERED.map((glob) => `--test-coverage-include=${glob}`),
    '--test-reporter=./test/reporter.ts',
    '--test-reporter-destination=stdout',
    '--test-reporter=lcov',
    `--test-reporter-destination=${report}`,
    ...SUITES,
  ],
  { stdio: 'inherit' },
)

const { count, untaken } = readBranches(readFileSync(report, 'utf8'))
const unexplained = untaken.filter((branch) => !UNREACHED.some((entry) => isSame(entry, branch)))
const stale = UNREACHED.filter((entry) => !untaken.some((branch) => isSame(entry, branch)))
console.log(`${count - untaken.length} of ${count} branches were taken`)
for (const { file, number, line } of unexplained)
  console.log(`not taken: ${file}:${number}  ${line}`)
for (const { file, reason } of UNREACHED) console.log(`out of reach: ${file}: ${reason}`)
for (const { file, line } of stale)
  console.log(`taken, or gone, but listed as out of reach: ${file}  ${line}`)
process.exitCode = status === 0 && count > 0 && unexplained.length + stale.length === 0 ? 0 : 1

function tests(folder: string, ...names: string[]): string[] {
  return names.map((name) => `test/${folder}/${name}.test.ts`)
}

interface Branch {
  file: string
  number: number
  line: string
}

function isSame(entry: { file: string; line: string }, branch: Branch): boolean {
  return entry.file === branch.file && entry.line === branch.line
}

/** Reads the lines of lcov's format that matter: SF is a file, BRDA a branch with its line and how often it was taken. */
function readBranches(lcov: string): { count: number; untaken: Branch[] } {
  const untaken: Branch[] = []
  let count = 0
  let file = ''
  let lines: string[] = []
  for (const text of lcov.split('\n')) {
    const [, name, rest = ''] = /^(SF|BRDA):(.*)$/.exec(text) ?? []
    if (name === 'SF') {
      file = rest
      lines = readFileSync(file, 'utf8').split('\n')
    }
    if (name !== 'BRDA') continue
    count += 1
    const [number = '', , , taken] = rest.split(',')
    if (taken === '0')
      untaken.push({ file, number: Number(number), line: lines[Number(number) - 1]!.trim() })
  }
  return { count, untaken }
}
