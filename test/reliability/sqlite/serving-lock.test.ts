import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { migrateSqlite } from '../../../src/sqlite/store.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { hold, load } from '../../sqlite/file/holder.ts'
import { once } from '../../fixtures/within.ts'

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

/** Takes the file's lock when told to, and keeps it for 100 ms. */
const HOLD_ONCE = `
  const { workerData: { path, state } } = require('node:worker_threads')
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(path, { timeout: 1_000 })
  Atomics.wait(state, 0, 0)
  database.exec('BEGIN IMMEDIATE')
  Atomics.store(state, 0, 2)
  Atomics.notify(state, 0)
  Atomics.wait(state, 0, 2, 100)
  database.exec('COMMIT')
  database.close()`

test('a service that is about to read the last claims waits for another process', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const state = new Int32Array(new SharedArrayBuffer(4))
  const other = new Worker(HOLD_ONCE, { eval: true, workerData: { path, state } })
  const ended = once(other, 'exit')
  const clock = manualClock()
  const { monotonic } = clock
  // The time is read just before the last claims are.
  clock.monotonic = () => {
    if (state[0] === 0) {
      Atomics.store(state, 0, 1)
      Atomics.notify(state, 0)
      Atomics.wait(state, 0, 1)
    }
    return monotonic()
  }
  const store = await openServingSqliteStore(path, clock)
  assert.equal(state[0], 2)
  await store.close()
  await ended
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
