import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { entriesFor, SLOWER } from '../test/run/entries.ts'

/*
 * Runs suites with one count: `node scripts/test.ts quick`. Files that are named after the suites
 * replace them: `npm test -- test/api/429.test.ts`. test/README.md describes the suites.
 *
 * --alone gives each file its own process. --random shuffles the tests, and --random=SEED repeats
 * an order. Both show whether a test depends on another one.
 */

const SUITES: Record<string, string[]> = {
  quick: [
    'test/*.test.ts',
    'test/!(browser|operations|postgres|reliability)/**/*.test.ts',
    'test/postgres/{acts,claims,keys,triggers}/**/*.test.ts',
    'conform/test/*.test.ts',
  ],
  long: [
    'test/{browser,reliability}/**/*.test.ts',
    'test/postgres/!(acts|claims|keys|triggers)/**/*.test.ts',
    'test/postgres/*.test.ts',
  ],
  // The long tests that another version of Node.js or PostgreSQL can break.
  versions: [
    'test/postgres/**/*.test.ts',
    'test/reliability/!(dashboard|fault-injection|history|system|wire)/**/*.test.ts',
    'test/reliability/history/*.test.ts',
  ],
  sequences: ['test/reliability/sequences/*.test.ts'],
  package: ['test/reliability/{package,releases}/**/*.test.ts'],
  conform: ['{,test/}conform/**/*.conform.ts'],
  // They need `npm ci --prefix bench/peers`, so they are not in the gate.
  peers: ['test/conform/peers/*.peers.ts'],
  operations: ['test/operations/**/*.test.ts'],
  // With the shipped times, a busy machine can make Patroni change the primary by itself, so this
  // is not in the gate.
  patroni: ['test/operations/patroni/*.patroni.ts'],
  system: ['test/reliability/system/**/*.system.ts'],
  postgres: [
    'test/{contract,database}/postgres.test.ts',
    'test/records/requests.test.ts',
    'test/{postgres,reliability/postgres}/**/*.test.ts',
  ],
}

/**
 * The processes that run at the same time. The quick tests wait for half of their time: for a
 * process, a database or the end of a second. Faults and overload need calmer processors.
 */
const QUICK_CONCURRENCY = 3
const CONCURRENCY = 2
/** The conformance tests wait for the end of a second nearly all the time. */
const CONFORM_CONCURRENCY = 6

/**
 * Ends a process in which no timer runs any more. Each file has a limit of its own, three times the
 * usual time in test/run/times.json.
 */
const TEST_TIMEOUT_MS = 600_000

const { values, positionals } = parseArgs({
  options: { alone: { type: 'boolean' }, random: { type: 'string' } },
  args: process.argv.slice(2).map((arg) => (arg === '--random' ? '--random=' : arg)),
  allowPositionals: true,
})
const suites = positionals.filter((name) => SUITES[name] !== undefined)
if (suites.length === 0)
  throw new Error(
    `expected one of ${Object.keys(SUITES).join(', ')}, got: ${positionals.join(' ')}`,
  )

const named = positionals.filter((name) => !suites.includes(name))
const patterns = named.length > 0 ? named : suites.flatMap((name) => SUITES[name]!)
const files = globSync(patterns)
  .filter((file) => !file.includes('node_modules'))
  .toSorted()
if (files.length === 0) throw new Error(`no test file matches: ${named.join(' ')}`)

const generated = mkdtempSync(join(tmpdir(), 'server-listing-tests-'))
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${concurrencyOf(suites)}`,
    `--test-timeout=${SLOWER * TEST_TIMEOUT_MS}`,
    '--test-reporter=./test/run/reporter.ts',
    '--test-global-setup=./test/run/shared-cluster.ts',
    '--import=./test/run/compile-cache.js',
    '--import=./test/run/exit.ts',
    ...orderOf(values.random),
    ...entriesFor(files, generated, values.alone),
  ],
  { stdio: 'inherit' },
)
rmSync(generated, { recursive: true })
process.exitCode = status ?? 1

function concurrencyOf(names: readonly string[]): number {
  if (names.every((name) => name === 'quick')) return QUICK_CONCURRENCY
  return names.every((name) => name === 'conform') ? CONFORM_CONCURRENCY : CONCURRENCY
}

/** The runner prints the seed of a random order. */
function orderOf(seed: string | undefined): string[] {
  if (seed === undefined) return []
  return ['--test-randomize', ...(seed === '' ? [] : [`--test-random-seed=${seed}`])]
}
