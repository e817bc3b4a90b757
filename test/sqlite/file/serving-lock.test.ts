import assert from 'node:assert/strict'
import { linkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createDatabaseFile } from '../../../src/sqlite/file/create-file.ts'
import { takeServingLock } from '../../../src/sqlite/file/serving-lock.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { migrateSqlite, openSqliteStore } from '../../../src/sqlite/store.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { hold, load } from './holder.ts'
import { once } from '../../fixtures/within.ts'
import { recordsOf } from '../../fixtures/records.ts'

test('one process serves a file; a second one names its pid; commands still work', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const child = await load(path)
  t.after(() => child.kill('SIGKILL'))
  assert.equal(await hold(child), 'serving')
  await assert.rejects(
    openServingSqliteStore(path),
    new RegExp(`being served by process ${child.pid};`),
  )
  const store = await openSqliteStore(path, { create: false })
  assert.deepEqual(await recordsOf(store).listUserRecords(), [])
  await store.close()
})

test('links to one file are recognized as the same file', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  const link = join(folder, 'link.db')
  const store = await openServingSqliteStore(path)
  t.after(() => store.close())
  symlinkSync(path, link)
  await assert.rejects(openServingSqliteStore(link), /is being served by process/)
})

test('a file with a second hard link is not served', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  await migrateSqlite(path)
  linkSync(path, join(folder, 'second.db'))
  await assert.rejects(openServingSqliteStore(path), /has a second name \(a hard link\)/)
})

test('a killed process no longer holds the file', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  for (let round = 0; round < 3; round += 1) {
    const child = await load(path)
    assert.equal(await hold(child), 'serving')
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const store = await openServingSqliteStore(path)
  await store.close()
  const again = await openServingSqliteStore(path)
  await again.close()
})

test('a process that loses the lock before it serves writes its pid again', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  createDatabaseFile(path)
  const { exec } = DatabaseSync.prototype
  let stolen = 0
  t.mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, sql: string) {
    exec.call(this, sql)
    if (sql !== 'COMMIT' || stolen === 3) return
    // The pid is committed and the lock is free, so another process can take it.
    stolen += 1
    const other = new DatabaseSync(`${path}-serving`)
    other.prepare('UPDATE holder SET pid = 1').run()
    other.close()
  })
  const lock = await takeServingLock(path, 0)
  assert.equal(stolen, 3)
  const reader = new DatabaseSync(`${path}-serving`)
  assert.equal(reader.prepare('SELECT pid FROM holder').get()?.pid, process.pid)
  reader.close()
  lock.release()
})

test('a second service migrates no file while another process serves it', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  createDatabaseFile(path)
  const database = new DatabaseSync(path)
  const lock = await takeServingLock(path, 0)
  await assert.rejects(openServingSqliteStore(path), /is being served by process/)
  assert.deepEqual(database.prepare('SELECT name FROM sqlite_schema').all(), [])
  database.close()
  lock.release()
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
