import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { systemClock } from '../../../src/sqlite/claims/clock.ts'
import { startCheckpointThread } from '../../../src/sqlite/file/checkpoint-thread.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { migrateSqlite } from '../../../src/sqlite/store.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { callWith, openClaims } from '../claims/open-claims.ts'
import { rowsInFile } from './rows-in-file.ts'

test('the thread copies the log into the file', async (t) => {
  const { path, claims, ada } = await openClaims(t)
  const thread = startCheckpointThread(path, assert.ifError)
  t.after(thread.close)
  claims.claimBatch([callWith(ada)])
  assert.equal(rowsInFile(t, path), 0)
  await new Promise<void>((resolve) => thread.copy(resolve))
  assert.equal(rowsInFile(t, path), 1)
})

test('nothing is called back after close, which waits for the copy under way', async (t) => {
  const { path, claims, ada } = await openClaims(t)
  const thread = startCheckpointThread(path, assert.ifError)
  claims.claimBatch([callWith(ada)])
  thread.copy(() => assert.fail('called back'))
  await thread.close()
  assert.equal(rowsInFile(t, path), 1)
  await thread.close()
})

test('a closed store leaves no log behind, so that the thread has closed its connection', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const store = await openServingSqliteStore(path, systemClock, assert.ifError)
  await store.probeClaims()
  assert.ok(existsSync(`${path}-wal`))
  await store.close()
  assert.ok(!existsSync(`${path}-wal`))
})

test('a thread leaves standard output blocking, and does not keep the process running', async (t) => {
  const { path } = await openClaims(t)
  const program = `
    import { readFileSync, writeSync } from 'node:fs'
    import { startCheckpointThread } from './src/sqlite/file/checkpoint-thread.ts'
    const thread = startCheckpointThread(process.argv[1], console.error)
    const running = setInterval(() => {}, 1_000)
    await new Promise((resolve) => thread.copy(resolve))
    clearInterval(running)
    const flags = /flags:\\s*([0-7]+)/.exec(readFileSync('/proc/self/fdinfo/1', 'utf8'))[1]
    writeSync(1, flags)`
  const node = spawn(process.execPath, ['--input-type=module', '--eval', program, path])
  const [flags] = await Promise.all([text(node.stdout), once(node, 'close')])
  assert.match(flags, /^[0-7]+$/)
  assert.equal(Number.parseInt(flags, 8) & constants.O_NONBLOCK, 0)
})

test('a thread that cannot open the file says so, and each copy still ends', async (t) => {
  const faults: unknown[] = []
  const path = join(temporaryFolder(t), 'missing/listing.db')
  const thread = startCheckpointThread(path, (fault) => faults.push(fault))
  // Asked for before the thread has ended.
  await new Promise<void>((resolve) => thread.copy(resolve))
  await eventually(async () => faults.length === 1)
  assert.match(String(faults[0]), /^CheckpointThreadEnded: the thread that copies .*has ended/)
  await new Promise<void>((resolve) => thread.copy(resolve))
  await thread.close()
  assert.equal(faults.length, 1)
})
