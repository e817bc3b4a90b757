import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

/*
 * `npm run coverage` checks that the tests take each branch of these folders. It prints the
 * branches that no test takes, and fails if there is one.
 */

const COVERED = [
  'src/{api,claims}/**/*.ts',
  'src/http/*.ts',
  'src/{accounts,keys,organizations}/*.ts',
  'src/keys/usage/*.ts',
  'src/{sqlite,postgres}/claims/**/*.ts',
]

const TESTS = [
  'test/{api,claims,contract}/**/*.test.ts',
  'test/{accounts,keys,organizations}/**/*.test.ts',
  'test/sqlite/{*,{claims,file}/**/*}.test.ts',
  'test/postgres/claims/**/*.test.ts',
  // Without the suites that repeat one check thousands of times.
  'test/wire/**/!(fuzz|generated|llhttp).test.ts',
]

const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-concurrency=2',
    '--test-global-setup=./test/run/shared-cluster.ts',
    '--experimental-test-coverage',
    '--test-coverage-branches=100',
    ...COVERED.map((glob) => `--test-coverage-include=${glob}`),
    ...['./test/run/reporter.ts', './scripts/untaken-branches.ts'].flatMap((reporter) => [
      `--test-reporter=${reporter}`,
      '--test-reporter-destination=stdout',
    ]),
    ...globSync(TESTS).toSorted(),
  ],
  { stdio: 'inherit' },
)
process.exitCode = status ?? 1
