import { Stryker } from '@stryker-mutator/core'
import { startCluster } from '../test/fixtures/postgres-cluster.ts'

/*
 * Breaks the code that decides about requests in every way that a small change can, one at a time, and looks whether a
 * test fails: `npm run mutation`, or `npm run mutation -- http api` for some of the folders. It prints what survived,
 * and the score of each folder, and fails if one is below SCORE_MIN. Why the rest survives stands in docs/mutation.md.
 */

/** Percent of the changes that a test has to notice. */
const SCORE_MIN = 90

/** What is changed, and the tests that are nearest to it. */
interface Part {
  folder: string
  mutate: string[]
  tests: string[]
  /** Tests that take long and see nothing that others do not. */
  skip?: string
}

const PARTS: Part[] = [
  { folder: 'listing', mutate: ['src/listing/*.ts'], tests: ['test/listing/*.test.ts'] },
  { folder: 'api', mutate: ['src/api/*.ts'], tests: ['test/api/*.test.ts'] },
  {
    folder: 'http',
    mutate: below('src/http', 'head', 'unparsed'),
    tests: tests('wire', 'head', 'unparsed'),
  },
  {
    folder: 'http',
    mutate: below('src/http', 'connection', 'limits', 'listen'),
    tests: tests(
      'wire',
      'limits',
      'closing',
      'connections',
      'timeouts',
      'corpus',
      'pending',
      'forgotten',
    ),
    skip: '/byte|never reads what it is answered|keep nobody waiting/',
  },
  {
    folder: 'sqlite',
    mutate: below('src/sqlite', 'clock', 'database', 'use-queue', 'uses'),
    tests: tests('sqlite', 'batches', 'clock', 'use-queue', 'database', 'uses'),
    skip: '/names no boot/',
  },
  {
    folder: 'sqlite',
    mutate: below('src/sqlite', 'recent-uses'),
    tests: tests('sqlite', 'recent-uses', 'folding'),
    skip: '/^folding moves|in the middle of folding/',
  },
  {
    folder: 'postgres',
    mutate: below('src/postgres', 'hosts', 'use-queue'),
    tests: tests('postgres', 'hosts-of', 'use-queue'),
  },
  {
    folder: 'postgres',
    mutate: below('src/postgres', 'use-statements', 'uses'),
    tests: tests('postgres', 'owners-by-key', 'batches'),
  },
  {
    folder: 'postgres',
    mutate: below('src/postgres', 'database', 'use-connection'),
    tests: tests('postgres', 'hosts-of', 'use-connection', 'database'),
  },
]

interface Score {
  noticed: number
  all: number
}

const folders = process.argv.slice(2)
const scores = new Map<string, Score>()
// Where nothing is answered a test is to give up soon.
process.env.PATIENCE_MS = '12000'
for (const part of PARTS) {
  if (folders.length > 0 && !folders.includes(part.folder)) continue
  const score = scores.get(part.folder) ?? { noticed: 0, all: 0 }
  scores.set(part.folder, score)
  const { noticed, all } =
    part.folder === 'postgres' ? await withCluster(() => run(part)) : await run(part)
  score.noticed += noticed
  score.all += all
}

for (const [folder, { noticed, all }] of scores) {
  const percent = (100 * noticed) / all
  console.log(`${folder}: ${noticed} of ${all} changes were noticed, ${percent.toFixed(1)} %`)
  if (!(percent >= SCORE_MIN)) process.exitCode = 1
}
if (scores.size === 0) throw new Error(`no folder of these: ${folders.join(', ')}`)

async function run({ mutate, tests, skip }: Part): Promise<Score> {
  const nodeArgs = [
    '--test-reporter=tap',
    ...(skip === undefined ? [] : [`--test-skip-pattern=${skip}`]),
  ]
  const stryker = new Stryker({ mutate, tap: { testFiles: tests, nodeArgs, forceBail: true } })
  const results = await stryker.runMutationTest()
  const count = (...statuses: string[]) =>
    results.filter(({ status }) => statuses.includes(status)).length
  const noticed = count('Killed', 'Timeout')
  return { noticed, all: noticed + count('Survived', 'NoCoverage') }
}

/** One server for all runs of the tests, each of which would start its own. */
async function withCluster<T>(body: () => Promise<T>): Promise<T> {
  const cluster = await startCluster()
  process.env.SHARED_CLUSTER_PORT = String(cluster.port)
  try {
    return await body()
  } finally {
    delete process.env.SHARED_CLUSTER_PORT
    await cluster.remove()
  }
}

function below(folder: string, ...names: string[]): string[] {
  return names.map((name) => `${folder}/${name}.ts`)
}

function tests(folder: string, ...names: string[]): string[] {
  return names.map((name) => `test/${folder}/${name}.test.ts`)
}
