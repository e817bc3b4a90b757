import { parseArgs } from 'node:util'
import { startCluster } from '../../test/fixtures/postgres/cluster.ts'
import { filesBelow, type SourceFile } from '../../test/fixtures/tree.ts'
import { assertExist } from './parts.ts'
import { type CopiedTree, copyTree, type Run } from './copied-tree.ts'
import { isEquivalent, staleEquivalents } from './sql-equivalents.ts'
import { describeMutant, type SqlMutant, sqlMutants } from './sql-mutants.ts'

/*
 * Makes small mistakes in the SQL of the engines, one at a time, and runs the tests until one
 * fails. `npm run mutation:sql` changes all files. `npm run mutation:sql -- records/users`
 * changes those whose path contains one of the words. `--engine sqlite` runs the tests of one
 * engine only. Prints the changes that survive, and fails if sql-equivalents.ts does not explain
 * one of them.
 */

const WORKERS = 2

/** The tests of each engine, the fastest and most sensitive first. */
const TESTS = {
  sqlite: [
    'test/contract/sqlite.test.ts',
    'test/sqlite/claims/**/*.test.ts',
    'test/sqlite/{.,file,triggers}/*.test.ts',
    'test/{dashboard,*/pages}/**/*.test.ts',
    'test/records/commands.test.ts',
  ],
  postgres: [
    'test/contract/postgres.test.ts',
    'test/postgres/claims/*.test.ts',
    'test/postgres/{*,{accounts,triggers}/*}.test.ts',
    'test/records/requests.test.ts',
    'test/reliability/postgres/migrate.test.ts',
    'test/reliability/postgres/faults.test.ts',
    'test/reliability/postgres/replication.test.ts',
    'test/reliability/postgres/standbys.test.ts',
  ],
}
type Engine = keyof typeof TESTS

/** The archive uses both engines. */
const ARCHIVE_TESTS = ['test/archive/!(postgres-*).test.ts', 'test/archive/postgres-*.test.ts']

/** Tests that come first for the files whose path contains a text. */
const NEAREST: Record<string, string[]> = {
  // These write rows past the store.
  'sqlite/migrations/': [
    'test/sqlite/{last-uses,schema,accepted-values}.test.ts',
    'test/sqlite/triggers/*.test.ts',
  ],
  'postgres/migrations/': [
    'test/postgres/upgrade.test.ts',
    'test/postgres/keys/*.test.ts',
    'test/postgres/triggers/listing-revisions.test.ts',
  ],
  'postgres/migrate': ['test/reliability/postgres/migrate.test.ts'],
  'postgres/standbys': ['test/reliability/postgres/standbys.test.ts'],
}
const tests = [...Object.values(TESTS), ...Object.values(NEAREST), ARCHIVE_TESTS].flat()
assertExist(tests)

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { engine: { type: 'string' } },
})
const engines = (Object.keys(TESTS) as Engine[]).filter(
  (engine) => values.engine === undefined || values.engine === engine,
)
if (engines.length === 0) throw new Error(`no engine is called ${values.engine}`)
const sources = [...filesBelow('src', '.ts'), ...filesBelow('src', '.sql')]
const [stale] = staleEquivalents(sources)
if (stale !== undefined)
  throw new Error(`sql-equivalents.ts: ${stale.path} has no "${stale.from}" in: ${stale.line}`)
const files = sources.filter(
  ({ path }) => words.length === 0 || words.some((word) => path.includes(word)),
)
const queue = files.flatMap((file) =>
  sqlMutants(file)
    .filter((mutant) => !isEquivalent(file, mutant))
    .map((mutant) => ({ file, mutant })),
)
if (queue.length === 0) throw new Error(`no SQL in files that match: ${words.join(', ')}`)
const count = queue.length

const cluster = await startCluster()
const env = { SHARED_CLUSTER_PORT: String(cluster.port), PATIENCE_MS: '12000' }
const survivors: string[] = []
const unchanged = copyTree(env)
/** The runs of the tests without a change. */
const sound = new Map<string, Promise<Run>>()
try {
  await Promise.all(Array.from({ length: WORKERS }, () => work(copyTree(env))))
} finally {
  await cluster.remove()
}
console.log(`${count - survivors.length} of ${count} changes were noticed`)
for (const survivor of survivors.toSorted()) console.log(`survived: ${survivor}`)
process.exitCode = survivors.length > 0 ? 1 : 0

async function work(tree: CopiedTree): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { file, mutant } = next
    const by = await witnessOf(tree, file, mutant)
    const described = describeMutant(file, mutant)
    if (by === null) survivors.push(described)
    console.log(by === null ? `SURVIVED ${described}` : `noticed  ${described}  by ${by}`)
  }
}

/** The first test file that fails, or null. */
function witnessOf(
  tree: CopiedTree,
  { path, text }: SourceFile,
  { at, from, to }: SqlMutant,
): Promise<string | null> {
  const mutated = text.slice(0, at) + to + text.slice(at + from.length)
  return tree.withText(path, mutated, async () => {
    for (const test of testsOf(path)) {
      const { failed, timedOut } = await tree.runTests(test, { stopAtFailure: true })
      if (failed === 0) continue
      await assertSound(test)
      return timedOut ? `${test}, by timeout` : test
    }
    return null
  })
}

/** The statements of the control plane run on both engines. */
function testsOf(path: string): string[] {
  const part = path.split('/')[1]!
  if (part === 'database' || path.includes('/records/'))
    return engines.flatMap((engine) => TESTS[engine])
  if (part === 'archive') return ARCHIVE_TESTS
  if (part !== 'sqlite' && part !== 'postgres')
    throw new Error(`no tests are listed for the SQL in ${path}`)
  const nearest = Object.keys(NEAREST).filter((text) => path.includes(text))
  return [...new Set([...nearest.flatMap((text) => NEAREST[text]!), ...TESTS[part]])]
}

/** A test that fails without any change notices nothing. Each is tried once. */
async function assertSound(test: string): Promise<void> {
  const run = sound.get(test) ?? unchanged.runTests(test)
  sound.set(test, run)
  const { failed, output } = await run
  if (failed > 0) throw new Error(`${test} fails without a change:\n${output.slice(-2_000)}`)
}
