import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { openServingSqliteStore, openSqliteStore } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { ROOT } from '../fixtures/tree.ts'

const HOLD = `
  import { openServingSqliteStore } from ${JSON.stringify(join(ROOT, 'src/sqlite/store.ts'))}
  try {
    await openServingSqliteStore(process.argv[1])
    process.send('serving')
    setInterval(() => {}, 1_000)
  } catch (error) {
    process.send(error.message)
    process.exit(1)
  }`

test('one process serves a file; a second is told the first one by its pid; a command is let in', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const child = hold(path)
  t.after(() => child.kill('SIGKILL'))
  assert.deepEqual(await once(child, 'message'), ['serving', undefined])
  await assert.rejects(
    openServingSqliteStore(path),
    new RegExp(`being served by process ${child.pid};`),
  )
  const store = await openSqliteStore(path, { create: false })
  assert.deepEqual(await store.listUsers(), [])
  await store.close()
})

test('a process that was killed does not hold the file', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  for (let round = 0; round < 3; round += 1) {
    const child = hold(path)
    assert.deepEqual(await once(child, 'message'), ['serving', undefined])
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const store = await openServingSqliteStore(path)
  await store.close()
  const again = await openServingSqliteStore(path)
  await again.close()
})

test('of eight processes that start at once exactly one serves, and the others name it', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const children = Array.from({ length: 8 }, () => hold(path))
  t.after(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  const messages = await Promise.all(
    children.map(async (child) => (await once(child, 'message'))[0]),
  )
  const server = children[messages.indexOf('serving')]
  assert.equal(messages.filter((message) => message === 'serving').length, 1)
  for (const message of messages.filter((one) => one !== 'serving'))
    assert.match(message, new RegExp(`being served by process ${server?.pid};`))
})

function hold(path: string) {
  return spawn(process.execPath, ['--input-type=module', '-e', HOLD, path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}
