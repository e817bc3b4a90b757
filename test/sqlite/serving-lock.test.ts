import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrateSqlite, openServingSqliteStore, openSqliteStore } from '../../src/sqlite/store.ts'
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

const WRITE_IN_BURSTS = `
  import { DatabaseSync } from 'node:sqlite'
  const database = new DatabaseSync(process.argv[1], { timeout: 1_000 })
  const hold = new Int32Array(new SharedArrayBuffer(4))
  process.send('writing')
  setInterval(() => {
    database.exec('BEGIN IMMEDIATE')
    Atomics.wait(hold, 0, 0, 60)
    database.exec('COMMIT')
  }, 70)`

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

test('a file is one file by whatever links it is named', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  const link = join(folder, 'link.db')
  const store = await openServingSqliteStore(path)
  t.after(() => store.close())
  symlinkSync(path, link)
  await assert.rejects(openServingSqliteStore(link), /is being served by process/)
})

test('a file with a second name of its own is not served', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  await migrateSqlite(path)
  linkSync(path, join(folder, 'second.db'))
  await assert.rejects(openServingSqliteStore(path), /has a second name \(a hard link\)/)
})

test('a service starts beside a process that writes in bursts', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITE_IN_BURSTS, path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => writer.kill('SIGKILL'))
  await once(writer, 'message')
  for (let round = 0; round < 10; round += 1) {
    const store = await openServingSqliteStore(path)
    await store.close()
  }
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
