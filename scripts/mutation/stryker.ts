import { globSync, readFileSync } from 'node:fs'
import { startCluster } from '../../test/fixtures/postgres/cluster.ts'
import { randomFrom, seedOfRun } from '../../test/fixtures/random.ts'
import { loadStryker, OPTIONS } from './load-stryker.ts'
import { assertExist, type Part, PARTS } from './parts.ts'

/*
 * Makes small changes to the code, one at a time, and checks that a test fails.
 * `npm run mutation` changes all folders, `npm run mutation -- http api` changes some. Prints what
 * survived and the score of each folder, and fails if a score is below SCORE_MIN. docs/mutation.md
 * explains the survivors.
 */

/** The percentage of changes that the tests must notice. */
const SCORE_MIN = 90

interface Score {
  folder: string
  noticed: number
  all: number
}

const folders = process.argv.slice(2)
const chosen = PARTS.filter(({ folder }) => folders.length === 0 || folders.includes(folder))
if (chosen.length === 0) throw new Error(`no such folder: ${folders.join(', ')}`)
const { Stryker } = await loadStryker()
const seed = seedOfRun()
console.log(`SEED=${seed} draws the lines of large folders`)
// A request that gets no answer must fail its test soon.
process.env.PATIENCE_MS = '12000'
// One server for all runs of the tests, which would otherwise each start their own.
const cluster = await startCluster()
process.env.SHARED_CLUSTER_PORT = String(cluster.port)
const scores: Score[] = []
try {
  for (const part of chosen) scores.push(await run(part))
} finally {
  await cluster.remove()
}

for (const { folder, noticed, all } of scores) {
  const percent = (100 * noticed) / all
  console.log(`${folder}: ${noticed} of ${all} changes were noticed, ${percent.toFixed(1)} %`)
  if (!(percent >= SCORE_MIN)) process.exitCode = 1
}

async function run({ folder, mutate: files, tests, skip, lines }: Part): Promise<Score> {
  assertExist([...files, ...tests])
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
  return { folder, noticed, all: noticed + count('Survived', 'NoCoverage') }
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
