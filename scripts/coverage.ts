import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assertExist } from './existing-files.ts'

/*
 * `npm run coverage` checks that the tests take each branch that a request can take. It runs the
 * suites closest to that code, prints the branches that no test takes, and fails if there is one.
 */

const COVERED = [
  'src/model/*.ts',
  'src/{accounts,organizations,servers,keys,state}/*.ts',
  'src/servers/file/*.ts',
  'src/api/*.ts',
  'src/http/*.ts',
  'src/claims/*.ts',
  ...[
    'claims/claims',
    'claims/clock',
    'claims/compaction',
    'database',
    'claims/decide-call',
    'claims/file-revision',
    'claims/key-rows',
    'claims/recent-claims',
  ].map((name) => `src/sqlite/${name}.ts`),
  ...[
    'abandoned',
    'database',
    'hosts',
    'claims/binary-arrays',
    'claims/known-keys',
    'pool',
    'claims/claim-connection',
    'claims/claim-statements',
    'claims/claims',
  ].map((name) => `src/postgres/${name}.ts`),
]

/** Without the suites that repeat one check ten thousand times. */
const SUITES = [
  ...[
    'model',
    'accounts',
    'keys',
    'organizations',
    'servers',
    'state',
    'api',
    'claims',
    'sqlite',
    'contract',
  ].map((folder) => `test/${folder}/**/*.test.ts`),
  ...tests(
    'wire',
    'client-address',
    'closing',
    'connections',
    'corpus',
    'exchanges',
    'heads/fields',
    'heads/head',
    'heads/last-request',
    'limits',
    'outbox',
    'pending',
    'slow-reader',
    'timeouts',
  ),
  'test/keys/pages/usage.test.ts',
  'test/reliability/postgres/{abandoned,configuration,hosts}.test.ts',
  ...tests(
    'postgres',
    'claims/batches',
    'claims/busy-rows',
    'database',
    'hosts-of',
    'claims/binary-arrays',
    'claims/known-keys',
    'claims/connection',
    'claims/late-connection',
    'refusals',
  ),
]

/**
 * Branches that no test can reach, by the text of their lines. An outdated entry is a failure, too.
 */
const UNREACHED = [
  {
    file: 'src/sqlite/claims/claims.ts',
    line: '} catch {',
    reason: 'a ROLLBACK that fails takes a disk that fails between two statements',
  },
]

assertExist([...COVERED, ...SUITES], 'scripts/coverage.ts')

const folder = mkdtempSync(join(tmpdir(), 'server-listing-coverage-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const report = join(folder, 'lcov.info')
const { status } = spawnSync(
  'node',
  [
    '--test',
    '--test-concurrency=2',
    '--test-global-setup=./test/run/shared-cluster.ts',
    '--experimental-test-coverage',
    ...COVERED.map((glob) => `--test-coverage-include=${glob}`),
    '--test-reporter=./test/run/reporter.ts',
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
  console.log(`listed as out of reach, but taken or gone: ${file}  ${line}`)
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

/** Reads the relevant lines of lcov: SF is a file, BRDA a branch with its line and its count. */
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
