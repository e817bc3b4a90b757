import { globSync, readFileSync } from 'node:fs'
import { startCluster } from '../../test/fixtures/postgres/cluster.ts'
import { randomFrom, seedOfRun } from '../../test/fixtures/random.ts'
import { assertExist } from '../existing-files.ts'
import { loadStryker, OPTIONS } from './load-stryker.ts'
import { type Part, PARTS } from './parts.ts'

/*
 * Makes small changes to the code that decides about requests, one at a time, and checks that a
 * test fails.
 * `npm run mutation` runs all folders, `npm run mutation -- http api` runs some. Prints what
 * survived and the score of each folder, and fails if a score is below SCORE_MIN. docs/mutation.md
 * explains the survivors.
 */

/** The percentage of changes that the tests must notice. */
const SCORE_MIN = 90

interface Score {
  noticed: number
  all: number
}

const folders = process.argv.slice(2)
const { Stryker } = await loadStryker()
const seed = seedOfRun()
console.log(`SEED=${seed} chose the lines of wiring and dashboard`)
const scores = new Map<string, Score>()
// A request that gets no answer must fail its test soon.
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
if (scores.size === 0) throw new Error(`no such folder: ${folders.join(', ')}`)

async function run({ mutate: files, tests, skip, lines }: Part): Promise<Score> {
  assertExist([...files, ...tests], 'scripts/mutation/parts.ts')
  const mutate = lines === undefined ? files : drawLines(files, lines)
  const nodeArgs = [
    '--test-reporter=tap',
    ...(skip === undefined ? [] : [`--test-skip-pattern=${skip}`]),
  ]
  const stryker = new Stryker({
    ...OPTIONS,
    mutate,
    tap: { testFiles: tests, nodeArgs, forceBail: true },
  })
  const results = await stryker.runMutationTest()
  const count = (...statuses: string[]) =>
    results.filter(({ status }) => statuses.includes(status)).length
  const noticed = count('Killed', 'Timeout')
  return { noticed, all: noticed + count('Survived', 'NoCoverage') }
}

/** Ranges of one line in Stryker's format. Comments and imports are left out. */
function drawLines(files: readonly string[], count: number): string[] {
  const ranges = files
    .flatMap((pattern) => globSync(pattern))
    .toSorted()
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          /^(?!\s*($|\/|\*|import|export (interface|type)|[)}\]]))/.test(line)
            ? [`${file}:${index + 1}-${index + 1}`]
            : [],
        ),
    )
  return randomFrom(seed).shuffle(ranges).slice(0, count)
}

/** One server for all runs of the tests, which would otherwise each start their own. */
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
