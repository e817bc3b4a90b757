import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Block, blocksOf, guidePages } from './blocks.ts'
import { prepareWalk, type Walk } from './empty-folder.ts'
import { patternOf } from './output.ts'

/*
 * Walks through the operator's guide: every block of every page, in the order of the index, in one
 * terminal. The blocks as root run in fresh-debian.test.ts.
 */

/** Blocks that only a machine with systemd as its first process, or only root, can run. */
const NOT_RUN_MAX = 3

const cleanups: (() => Promise<void> | void)[] = []
let walk: Walk

before(async () => {
  walk = await prepareWalk({ after: (cleanup) => void cleanups.push(cleanup as () => void) })
})
after(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
})

for (const page of guidePages())
  test(`the commands of ${page} work, and print what it shows`, async () => {
    const blocks = blocksOf(page).filter(({ notRun, asRoot }) => notRun === null && !asRoot)
    for (const block of blocks) await runBlock(block)
  })

test('the guide has few blocks that are not run', () => {
  const notRun = guidePages()
    .flatMap(blocksOf)
    .filter((block) => block.notRun !== null)
  assert.ok(notRun.length <= NOT_RUN_MAX, notRun.map(({ at }) => at).join('\n'))
})

/** The block that failed. Each block relies on the blocks before it. */
let failedAt: string | null = null

async function runBlock({ at, commands, output }: Block): Promise<void> {
  assert.equal(failedAt, null, `${at} was not run, because an earlier block failed`)
  failedAt = at
  const ran = await walk.terminal.run(walk.localized(commands))
  assert.ok(ran.isDone, `${at} failed:\n${commands}\nIt printed:\n${ran.output}`)
  if (output !== null) {
    const shown = walk.localized(output)
    assert.match(ran.output, patternOf(shown), `${at} printed:\n${ran.output}\nnot:\n${shown}`)
  }
  failedAt = null
}
