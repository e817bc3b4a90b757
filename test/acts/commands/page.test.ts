import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'
import { blocksOf } from '../../operations/guide/blocks.ts'
import { patternOf } from '../../operations/guide/output.ts'
import { shellEnvironment } from '../../operations/guide/shim.ts'
import { openTerminal, type Terminal } from '../../operations/guide/terminal.ts'
import { programIn } from '../../cli/program.ts'

const PAGE = 'docs/declared-state.md'

/** A terminal in an empty folder, whose `server-listing` is the program of this checkout. */
function terminalIn(t: TestContext, folder: string): Terminal {
  const scratch = temporaryFolder(t)
  const env = shellEnvironment(scratch)
  const terminal = openTerminal({ folder, scratch, env, user: {} })
  t.after(terminal.close)
  return terminal
}

test('the commands of the page about declared state work, and print what it shows', async (t) => {
  const program = programIn(t)
  const terminal = terminalIn(t, program.folder)
  const blocks = blocksOf(PAGE)
  assert.ok(blocks.length >= 6)
  for (const { at, commands, output, notRun } of blocks) {
    assert.equal(notRun, null, at)
    const ran = await terminal.run(commands)
    assert.ok(ran.isDone, `${at} failed:\n${commands}\nIt printed:\n${ran.output}`)
    if (output !== null)
      assert.match(ran.output, patternOf(output), `${at} printed:\n${ran.output}`)
  }
  const env = { DATABASE_URL: `sqlite:${join(program.folder, 'listing.db')}` }
  const { port } = await program.serve({ env })
  const keyIn = (name: string) => readFileSync(join(program.folder, name), 'utf8').trim()
  assert.equal((await ask(port, { key: keyIn('old.key') })).status, 200)
  assert.equal((await ask(port, { key: keyIn('bob.key') })).status, 401)
})
