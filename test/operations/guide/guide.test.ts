import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Block, guideParts } from './blocks.ts'
import { prepareWalk, type Walk } from './empty-folder.ts'
import { patternOf } from './output.ts'

/*
 * Walks through the operator's guide: every block of every part, in the order of the index, in one
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

for (const { name, blocks } of guideParts())
  test(`the commands of ${name} work, and print what it shows`, async () => {
    for (const block of blocks) if (block.notRun === null && !block.asRoot) await runBlock(block)
  })

test('the guide has few blocks that are not run', () => {
  const notRun = guideParts()
    .flatMap(({ blocks }) => blocks)
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
