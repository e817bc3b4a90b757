import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { constants, copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { systemClock } from '../../../src/sqlite/claims/clock.ts'
import { createCheckpointThread } from '../../../src/sqlite/file/checkpoint-thread.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { migrateSqlite } from '../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { holding } from '../../fixtures/listings.ts'
import { callWith, openClaims } from '../claims/open-claims.ts'
import { rowsInFile } from './rows-in-file.ts'
import { once } from '../../fixtures/within.ts'

test('the thread copies the log into the file', async (t) => {
  const { path, claims, ada } = await openClaims(t)
  const thread = createCheckpointThread(path, assert.ifError)
  t.after(thread.close)
  claims.claimBatch([callWith(ada)])
  assert.equal(rowsInFile(t, path), 0)
  await new Promise<void>((resolve) => thread.copy(resolve))
  assert.equal(rowsInFile(t, path), 1)
})

test('a copy leaves cached listings and rows valid', async (t) => {
  const { path, claims, clock, ada } = await openClaims(t)
  const thread = createCheckpointThread(path, assert.ifError)
  t.after(thread.close)
  const [first] = claims.claimBatch([callWith(ada)])!
  assert.ok(first !== undefined && 'revision' in first && first.rows !== null)
  await new Promise<void>((resolve) => thread.copy(resolve))
  clock.elapse(1_000)
  const call = { keyHash: hashApiKey(ada), listings: holding(first.revision) }
  const [second] = claims.claimBatch([call])!
  assert.ok(second !== undefined && 'revision' in second)
  assert.deepEqual([second.revision, second.rows], [first.revision, null])
})

test('nothing is called back after close, which waits for the copy under way', async (t) => {
  const { path, claims, ada } = await openClaims(t)
  const thread = createCheckpointThread(path, assert.ifError)
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
  // The first copy starts the thread.
  for (let batch = 0; batch < 512; batch += 1) await store.probeClaims()
  assert.ok(existsSync(`${path}-wal`))
  await store.close()
  assert.ok(!existsSync(`${path}-wal`))
})

test('a thread leaves standard output blocking, and does not keep the process running', async (t) => {
  const { path } = await openClaims(t)
  const program = `
    import { readFileSync, writeSync } from 'node:fs'
    import { createCheckpointThread } from './src/sqlite/file/checkpoint-thread.ts'
    const thread = createCheckpointThread(process.argv[1], console.error)
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

test('a thread that cannot open the file says so, creates none, and each copy still ends', async (t) => {
  const faults: unknown[] = []
  const path = join(temporaryFolder(t), 'listing.db')
  const thread = createCheckpointThread(path, (fault) => faults.push(fault))
  await new Promise<void>((resolve) => thread.copy(resolve))
  assert.ok(!existsSync(path))
  assert.match(String(faults[0]), /^CheckpointThreadEnded: the thread that copies .*has ended/)
  assert.match(String((faults[0] as Error).cause), /unable to open database file/)
  await new Promise<void>((resolve) => thread.copy(resolve))
  await thread.close()
  assert.equal(faults.length, 1)
})

test('a thread that the system refuses is reported, and the copy still ends', async (t) => {
  const { path } = await openClaims(t)
  // Without the permission for threads, starting one throws, as it does at a limit of the system.
  const program = `
    import { createCheckpointThread } from './src/sqlite/file/checkpoint-thread.ts'
    const thread = createCheckpointThread(process.argv[1], (fault) => console.log(fault.name))
    await new Promise((resolve) => thread.copy(resolve))
    await thread.close()
    console.log('ended')`
  const options = ['--permission', '--allow-fs-read=*', '--input-type=module', '--eval', program]
  const node = spawn(process.execPath, [...options, path])
  const [output] = await Promise.all([text(node.stdout), once(node, 'close')])
  assert.equal(output, 'CheckpointThreadEnded\nended\n')
})

test('a path with characters of a URL names the file as it is', async (t) => {
  const { path, claims, ada } = await openClaims(t)
  claims.claimBatch([callWith(ada)])
  const odd = join(temporaryFolder(t), 'a %41?b#c.db')
  for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${odd}${end}`)
  assert.equal(rowsInFile(t, odd), 0)
  const faults: unknown[] = []
  const thread = createCheckpointThread(odd, (fault) => faults.push(fault))
  await new Promise<void>((resolve) => thread.copy(resolve))
  await thread.close()
  assert.deepEqual(faults, [])
  assert.equal(rowsInFile(t, odd), 1)
})
