import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../fixtures/folder.ts'
import { shellEnvironment } from '../operations/guide/shim.ts'
import { openTerminal } from '../operations/guide/terminal.ts'
import { answerOfPut, serveManaged } from './managed.ts'
import { pageBlocks } from './toy-site.ts'

/*
 * The commands of docs/site.md for a site on another database or another host.
 */

test('a site elsewhere sends a user over HTTP, and all users in a file', async (t) => {
  const { folder, databasePath, url, names, done } = await serveManaged(t)
  const scratch = temporaryFolder(t)
  const env = { ...shellEnvironment(scratch), DATABASE_URL: `sqlite:${databasePath}` }
  const terminal = openTerminal({ folder, scratch, env, user: {} })
  t.after(terminal.close)
  const type = async (commands: string) => {
    const { isDone, output } = await terminal.run(commands.replace('http://127.0.0.1:8083', url))
    assert.ok(isDone, `${commands}\nprinted:\n${output}`)
    return output
  }
  const blocks = pageBlocks().filter(
    ({ language, text }) => language === 'sh' && !text.includes('postgres://'),
  )
  assert.equal(blocks.length, 2)
  const [change = '', night = ''] = blocks.map(({ text }) => text)
  assert.deepEqual(JSON.parse(await type(change)), answerOfPut(1))
  const issue = async (id: string) => {
    const printed = await done(`key issue --external-id ${id} --name bot`)
    return /svc_live_[0-9a-f]{64}/.exec(printed)![0]
  }
  const key = await issue('4711')
  assert.deepEqual(await names(key), ['Survival'])
  assert.deepEqual(JSON.parse(await type(change)), answerOfPut(0))
  const ban = change.replace('null', '"2026-01-31T12:00:00Z"')
  assert.deepEqual(JSON.parse(await type(ban)), answerOfPut(0, 1))
  assert.equal(await names(key), 401)

  const other = change.replaceAll('4711', '4713').replace('eve@', 'max@').replace('2a', '2b')
  assert.deepEqual(JSON.parse(await type(other)), answerOfPut(1))
  const otherKey = await issue('4713')
  assert.deepEqual(await names(otherKey), ['Survival'])
  await type(night)
  assert.deepEqual(await names(key), ['Survival'])
  assert.equal(await names(otherKey), 401)
  assert.match(await done('user list'), /4712/)
})
