import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { migrateSqlite } from '../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { hold, load } from '../../sqlite/file/holder.ts'

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

test('exactly one of eight processes that start at once serves; the others name it', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const children = await Promise.all(Array.from({ length: 8 }, () => load(path)))
  t.after(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  const messages = await Promise.all(children.map(hold))
  const server = children[messages.indexOf('serving')]
  assert.equal(messages.filter((message) => message === 'serving').length, 1)
  for (const message of messages.filter((one) => one !== 'serving'))
    assert.match(message, new RegExp(`being served by process ${server?.pid};`))
})
