import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startCluster } from '../../test/fixtures/postgres/cluster.ts'
import { ROOT } from '../../test/fixtures/tree.ts'
import type { Mutant } from '../../test/reliability/planted/mutant.ts'
import { MUTANTS } from '../../test/reliability/planted/mutants.ts'
import { type CopiedTree, copyTree } from './copied-tree.ts'
import { type Verdict, verdictOf } from './verdict.ts'

/*
 * Plants the mistakes of test/reliability/planted/ one at a time in a copy of the tree and runs the
 * test that should notice each.
 * `npm run planted` runs all; `npm run planted -- postgres slot` runs those whose name or file
 * contains one of the words. Fails if a mistake survives, or if the test fails without it. A
 * failure of another test does not count: code that cannot be loaded proves nothing.
 */

const WORKERS = 2

const words = process.argv.slice(2)
const chosen = MUTANTS.filter(
  ({ name, file }) =>
    words.length === 0 || words.some((word) => name.includes(word) || file.includes(word)),
)
if (chosen.length === 0) throw new Error(`no planted mistake matches: ${words.join(', ')}`)

// One server for all runs of the tests, which would otherwise each start their own.
const cluster = await startCluster()
const env = { SHARED_CLUSTER_PORT: String(cluster.port) }
const verdicts: (Verdict | 'equivalent')[] = []
try {
  const queue = [...chosen]
  await Promise.all(Array.from({ length: WORKERS }, () => work(copyTree(env), queue)))
} finally {
  await cluster.remove()
}
for (const [verdict, of] of Map.groupBy(verdicts, (verdict) => verdict))
  console.log(`${verdict}: ${of.length} of ${chosen.length}`)

async function work(tree: CopiedTree, queue: Mutant[]): Promise<void> {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const [verdict, detail] = await judge(tree, mutant)
    verdicts.push(verdict)
    console.log(`${verdict.padEnd(10)} ${mutant.name}  ${detail}`)
    if (verdict === 'SURVIVED' || verdict === 'UNSOUND') process.exitCode = 1
  }
}

async function judge(
  tree: CopiedTree,
  mutant: Mutant,
): Promise<[verdict: Verdict | 'equivalent', detail: string]> {
  const { file, from, to, noticedBy } = mutant
  if ('equivalent' in noticedBy) return ['equivalent', noticedBy.equivalent]
  const { test, only } = noticedBy
  const sound = await tree.runTests(test, { only })
  const counts = `${sound.passed} passed, ${sound.failed} failed`
  if (sound.failed > 0 || sound.passed === 0)
    return ['UNSOUND', `${test}, without the mistake: ${counts}\n${sound.output.slice(-2_000)}`]
  const text = readFileSync(join(ROOT, file), 'utf8').replace(from, () => to)
  const run = await tree.withText(file, text, () => tree.runTests(test, { only }))
  const verdict = verdictOf(run, only)
  const detail = verdict === 'UNSOUND' ? `\n${run.output.slice(-2_000)}` : ''
  return [verdict, `${test} "${only}"${detail}`]
}
