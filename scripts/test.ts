import { spawnSync } from 'node:child_process'

/*
 * Runs a suite with one count: `node scripts/test.ts quick`. Files named after the suite replace
 * it: `npm test -- test/api/404.test.ts`. test/README.md describes the suites.
 */

const SUITES: Record<string, string[]> = {
  quick: ['test/*.test.ts', 'test/!(browser|operations|postgres|reliability)/**/*.test.ts'],
  long: ['test/{browser,postgres,reliability}/**/*.test.ts'],
  // The long tests that another version of Node.js or PostgreSQL can break.
  versions: [
    'test/postgres/**/*.test.ts',
    'test/reliability/!(dashboard|fault-injection|history|planted|system|wire)/**/*.test.ts',
    'test/reliability/history/*.test.ts',
  ],
  conform: ['test/conform/**/*.conform.ts'],
  // They need `npm ci --prefix bench/peers`, so they are not in the gate.
  peers: ['test/conform/peers/*.peers.ts'],
  operations: ['test/operations/**/*.test.ts'],
  // With the shipped times, a busy machine can make Patroni change the primary by itself, so this
  // is not in the gate.
  patroni: ['test/operations/patroni/*.patroni.ts'],
  system: ['test/reliability/system/**/*.system.ts'],
  postgres: [
    'test/{contract,management,dashboard}/postgres.test.ts',
    'test/{postgres,reliability/postgres}/**/*.test.ts',
  ],
}

/**
 * The files that run at the same time. The quick tests wait for half of their time: for a process,
 * a database or the end of a second. Faults and overload need calmer processors.
 */
const QUICK_CONCURRENCY = 3
const CONCURRENCY = 2
/** The conformance tests wait for the end of a second nearly all the time. */
const CONFORM_CONCURRENCY = 6

/**
 * A single test that takes longer hangs. The longest one takes about a minute on two idle
 * processors, and nearly four on busy ones.
 */
const TEST_TIMEOUT_MS = 600_000

const args = process.argv.slice(2)
const files = args.flatMap((name) => SUITES[name] ?? [])
const chosen = args.filter((name) => SUITES[name] === undefined)
if (files.length === 0)
  throw new Error(`expected one of ${Object.keys(SUITES).join(', ')}, got: ${args.join(' ')}`)

const concurrency = args.every((name) => name === 'quick')
  ? QUICK_CONCURRENCY
  : args.every((name) => name === 'conform')
    ? CONFORM_CONCURRENCY
    : CONCURRENCY
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    '--test-reporter=./test/run/reporter.ts',
    '--test-global-setup=./test/run/shared-cluster.ts',
    '--import=./test/run/compile-cache.js',
    '--import=./test/run/exit.ts',
    ...(chosen.length > 0 ? chosen : files),
  ],
  { stdio: 'inherit' },
)
process.exitCode = status ?? 1
