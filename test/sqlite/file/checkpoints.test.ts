import assert from 'node:assert/strict'
import { copyFileSync, fstatSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { presentInstant } from '../../../src/listing/instant.ts'
import { createBatchTimer } from '../../../src/sqlite/claims/slow-batches.ts'
import { createCheckpoints } from '../../../src/sqlite/file/checkpoints.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { migrateSqlite } from '../../../src/sqlite/store.ts'
import { hashApiKey } from '../../../src/listing/api-key.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { holding, NO_LISTINGS } from '../../fixtures/listings.ts'
import { addOwner } from '../../fixtures/service.ts'
import { callWith, openClaims } from '../claims/open-claims.ts'

const FLUSH_AFTER = 512
const CHECKPOINT_AFTER = 4_096

test('every 4,096th batch is copied into the file, after the log was flushed', async (t) => {
  const { path, claims, ada, clock, checkpoints, flushes, note } = await open(t)
  claims.claimBatch([callWith(ada)])
  for (const claimsUntilNow of [1, 2]) {
    note(CHECKPOINT_AFTER - 1)
    flushes.endAll()
    assert.equal(rowsInFile(t, path), claimsUntilNow - 1)
    note(1)
    assert.equal(flushes.begun(), 1)
    assert.equal(rowsInFile(t, path), claimsUntilNow - 1, 'nothing is copied before the flush')
    flushes.endAll()
    assert.equal(rowsInFile(t, path), claimsUntilNow)
    clock.elapse(1_000)
    claims.claimBatch([callWith(ada)])
  }
  checkpoints.close()
})

test('the log is flushed after 512 batches, by one flush at a time', async (t) => {
  const { checkpoints, flushes, note } = await open(t)
  note(FLUSH_AFTER - 1)
  assert.equal(flushes.begun(), 0)
  note(1)
  assert.equal(flushes.begun(), 1)
  note(2 * FLUSH_AFTER)
  assert.equal(flushes.begun(), 1)
  flushes.endAll()
  note(1)
  assert.equal(flushes.begun(), 1)
  flushes.endAll()
  checkpoints.close()
})

test('the log is closed with the store, or when its last flush has ended', async (t) => {
  const { checkpoints, flushes, note } = await open(t)
  note(CHECKPOINT_AFTER)
  const [file] = flushes.files()
  checkpoints.close()
  assert.ok(fstatSync(file!).isFile())
  flushes.endAll()
  assert.throws(() => fstatSync(file!), { code: 'EBADF' })

  const other = await open(t)
  other.note(FLUSH_AFTER)
  const [second] = other.flushes.files()
  other.flushes.endAll()
  other.checkpoints.close()
  assert.throws(() => fstatSync(second!), { code: 'EBADF' })
})

test('a checkpoint that fails leaves the claims as they are', async (t) => {
  const { claims, database, ada, checkpoints, flushes, note } = await open(t)
  note(CHECKPOINT_AFTER)
  database.exec('BEGIN IMMEDIATE')
  flushes.endAll()
  database.exec('ROLLBACK')
  const [claim] = claims.claimBatch([callWith(ada)])!
  assert.ok(claim !== undefined && 'outcome' in claim && claim.outcome === 'granted')
  checkpoints.close()
})

test('a checkpoint does not make cached rows or listings invalid', async (t) => {
  const { claims, clock, ada, checkpoints, flushes, note } = await open(t)
  const [first] = claims.claimBatch([callWith(ada)])!
  assert.ok(first !== undefined && 'revision' in first && first.rows !== null)
  note(CHECKPOINT_AFTER)
  flushes.endAll()
  clock.elapse(1_000)
  const call = { keyHash: hashApiKey(ada), listings: holding(first.revision) }
  const [second] = claims.claimBatch([call])!
  assert.ok(second !== undefined && 'revision' in second)
  assert.deepEqual([second.revision, second.rows], [first.revision, null])
  checkpoints.close()
})

test('every connection of the process leaves the log to the checkpoints, up to 32 MB', async (t) => {
  const { database, path } = await open(t)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  createCheckpoints(path, database, [other], createBatchTimer(assert.ifError)).close()
  for (const one of [database, other])
    assert.equal(one.prepare('PRAGMA wal_autocheckpoint').get()?.wal_autocheckpoint, 8_192)
})

test('a service copies its claims into the file while it serves', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  let now = presentInstant()
  const clock = { monotonic: () => (now += 1_000_000), present: presentInstant, bootId: 'test' }
  const store = await openServingSqliteStore(path, clock, assert.ifError)
  const { key } = await addOwner(store, 'ada@example.com', [])
  const keyHash = hashApiKey(key)
  await eventually(async () => {
    for (let batch = 0; batch < FLUSH_AFTER; batch += 1) await store.claim(keyHash, NO_LISTINGS)
    return rowsInFile(t, path) > 0
  })
  await store.close()
})

/** Claims with checkpoints whose flushes end when the test says so. */
async function open(t: TestContext) {
  const opened = await openClaims(t)
  const { path, database } = opened
  const running: (() => void)[] = []
  const files: number[] = []
  const checkpoints = createCheckpoints(
    path,
    database,
    [],
    createBatchTimer(assert.ifError),
    (file, done) => {
      files.push(file)
      running.push(done)
    },
  )
  return {
    ...opened,
    checkpoints,
    note(batches: number) {
      for (let batch = 0; batch < batches; batch += 1) checkpoints.noteBatch()
    },
    flushes: {
      begun: () => running.length,
      files: () => files,
      endAll() {
        for (const end of running.splice(0)) end()
      },
    },
  }
}

/** The claims in the database file alone, without its log. */
function rowsInFile(t: TestContext, path: string): number {
  const copy = join(temporaryFolder(t), 'copy.db')
  copyFileSync(path, copy)
  const database = new DatabaseSync(copy)
  try {
    const { count } = database
      .prepare('SELECT (SELECT count(*) FROM uses) + (SELECT count(*) FROM last_uses) AS count')
      .get()!
    return Number(count)
  } finally {
    database.close()
  }
}
