import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { ROOT } from '../../fixtures/tree.ts'
import { blocksOf } from '../guide/blocks.ts'
import { patternOf } from '../guide/output.ts'
import { openTerminal } from '../guide/terminal.ts'
import { startPolledService } from './polled-service.ts'

/*
 * Walks through the guide for integrators in one terminal, with a real service.
 */

const PAGE = 'docs/integrators.md'
const SERVER = { name: 'Survival', address: 'play.example.com' }

test('the commands of the guide for integrators work, and print what it shows', async (t) => {
  const { baseUrl, key } = await startPolledService(t, ['fair'], SERVER)
  const [folder, scratch] = [temporaryFolder(t), temporaryFolder(t)]
  cpSync(join(ROOT, 'docs/examples'), join(folder, 'examples'), { recursive: true })
  const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' }
  const terminal = openTerminal({ folder, scratch, env, user: {} })
  t.after(terminal.close)
  const [first, ...rest] = blocksOf(PAGE)
  assert.ok(rest.length >= 3)
  for (const { at, commands, output, notRun } of [first!, ...rest]) {
    assert.equal(notRun, null, `${at} is not run`)
    const ran = await terminal.run(commands.replaceAll('http://127.0.0.1:8080', baseUrl))
    assert.ok(ran.isDone, `${at} failed:\n${ran.output}`)
    if (output !== null) assert.match(ran.output, patternOf(output), at)
    // The page asks the reader to do this in an editor.
    if (at === first!.at) writeFileSync(join(folder, 'server-listing.key'), `${key}\n`)
  }
})
