import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ask } from '../../fixtures/requests.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { blocksOf } from '../../operations/guide/blocks.ts'
import { patternOf } from '../../operations/guide/output.ts'
import { openTerminal, type Terminal } from '../../operations/guide/terminal.ts'
import { programIn } from '../program.ts'

const PAGE = 'docs/declared-state.md'

/** A terminal in an empty folder, whose `server-listing` is the program of this checkout. */
function terminalIn(t: TestContext, folder: string): Terminal {
  const scratch = temporaryFolder(t)
  const programs = join(scratch, 'programs')
  mkdirSync(programs)
  const shim = join(programs, 'server-listing')
  writeFileSync(
    shim,
    `#!/bin/sh\nexec '${process.execPath}' -- '${join(ROOT, 'bin/server-listing.js')}' "$@"\n`,
  )
  chmodSync(shim, 0o755)
  const env = {
    PATH: `${programs}:${process.env.PATH}`,
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'),
  }
  const terminal = openTerminal({ folder, scratch, env, user: {} })
  t.after(terminal.close)
  return terminal
}

test('the commands of the page about declared state work, and print what it shows', async (t) => {
  const program = programIn(t)
  const terminal = terminalIn(t, program.folder)
  const blocks = blocksOf(PAGE)
  assert.ok(blocks.length >= 8)
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

test('the examples in the help of apply, export and key import run', async (t) => {
  const { folder } = programIn(t)
  const terminal = terminalIn(t, folder)
  const hash = '0c'.repeat(32)
  writeFileSync(join(folder, 'keys.csv'), `name,key_hash\nbot,${hash}\n`)
  await terminal.run('export DATABASE_URL=sqlite:listing.db\n')
  await terminal.run('server-listing user add ada@example.com --create\n')
  for (const command of ['export', 'apply', 'key import']) {
    const help = await terminal.run(`server-listing ${command} --help\n`)
    const examples = help.output
      .split(/\nExamples?:\n/)[1]!
      .trim()
      .split('\n')
    assert.ok(examples.every((line) => line.includes(`server-listing ${command}`)))
    for (const example of examples) {
      const ran = await terminal.run(`${example}\n`)
      assert.ok(ran.isDone, `${example}\n${ran.output}`)
    }
  }
})
