import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { createBatchTimer } from '../../../src/sqlite/claims/slow-batches.ts'
import { createCheckpoints } from '../../../src/sqlite/file/checkpoints.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { migrateSqlite } from '../../../src/sqlite/store.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { holding, NO_LISTINGS } from '../../fixtures/listings.ts'
import { addOwner } from '../../fixtures/service.ts'
import { callWith, openClaims } from '../claims/open-claims.ts'
import { rowsInFile } from './rows-in-file.ts'

const COPY_AFTER = 512
const RESTART_AFTER = 4_096

test('the thread copies after 512 batches, one copy at a time', async (t) => {
  const { copies, note } = await open(t)
  note(COPY_AFTER - 1)
  assert.equal(copies.underWay(), 0)
  note(1)
  assert.equal(copies.underWay(), 1)
  note(2 * COPY_AFTER)
  assert.equal(copies.underWay(), 1)
  copies.endAll()
  note(1)
  assert.equal(copies.underWay(), 1)
})

test('every 4,096th batch, the serving thread copies the rest after the thread', async (t) => {
  const { path, claims, ada, clock, copies, note } = await open(t)
  claims.claimBatch([callWith(ada)])
  for (const claimsUntilNow of [1, 2]) {
    note(RESTART_AFTER - 1)
    copies.endAll()
    assert.equal(rowsInFile(t, path), claimsUntilNow - 1)
    note(1)
    assert.equal(copies.underWay(), 1)
    assert.equal(rowsInFile(t, path), claimsUntilNow - 1, 'nothing is copied before the thread')
    copies.endAll()
    assert.equal(rowsInFile(t, path), claimsUntilNow)
    clock.elapse(1_000)
    claims.claimBatch([callWith(ada)])
  }
})

test('the log starts anew after the serving thread has copied the rest', async (t) => {
  const { database, claims, ada, clock, copies, note } = await open(t)
  const claim = (times: number) => {
    for (let claimed = 0; claimed < times; claimed += 1) {
      claims.claimBatch([callWith(ada)])
      clock.elapse(1_000)
    }
  }
  const pagesInLog = () => Number(database.prepare('PRAGMA wal_checkpoint').get()?.log)
  claim(20)
  note(RESTART_AFTER)
  copies.endAll()
  claim(1)
  const pages = pagesInLog()
  assert.ok(pages < 10, `${pages} pages`)
})

test('a checkpoint that fails leaves the claims as they are', async (t) => {
  const { claims, database, ada, copies, note } = await open(t)
  note(RESTART_AFTER)
  database.exec('BEGIN IMMEDIATE')
  copies.endAll()
  database.exec('ROLLBACK')
  const [claim] = claims.claimBatch([callWith(ada)])!
  assert.ok(claim !== undefined && 'outcome' in claim && claim.outcome === 'granted')
})

test('a checkpoint does not make cached rows or listings invalid', async (t) => {
  const { claims, clock, ada, copies, note } = await open(t)
  const [first] = claims.claimBatch([callWith(ada)])!
  assert.ok(first !== undefined && 'revision' in first && first.rows !== null)
  note(RESTART_AFTER)
  copies.endAll()
  clock.elapse(1_000)
  const call = { keyHash: hashApiKey(ada), listings: holding(first.revision) }
  const [second] = claims.claimBatch([call])!
  assert.ok(second !== undefined && 'revision' in second)
  assert.deepEqual([second.revision, second.rows], [first.revision, null])
})

test('every connection of the process leaves the log to the checkpoints, up to 32 MB', async (t) => {
  const { database, path } = await open(t)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  createCheckpoints(
    database,
    [other],
    { copy: () => assert.fail() },
    createBatchTimer(assert.ifError),
  )
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
    for (let batch = 0; batch < COPY_AFTER; batch += 1) await store.claim(keyHash, NO_LISTINGS)
    try {
      return rowsInFile(t, path) > 0
    } catch {
      // The thread was writing to the file when it was copied.
      return false
    }
  })
  await store.close()
})

/** Claims with checkpoints, whose thread has copied when the test says so. */
async function open(t: TestContext) {
  const opened = await openClaims(t)
  const underWay: (() => void)[] = []
  const thread = { copy: (done: () => void) => void underWay.push(done) }
  const timer = createBatchTimer(assert.ifError)
  const checkpoints = createCheckpoints(opened.database, [], thread, timer)
  return {
    ...opened,
    note(batches: number) {
      for (let batch = 0; batch < batches; batch += 1) checkpoints.noteBatch()
    },
    copies: {
      underWay: () => underWay.length,
      endAll() {
        for (const end of underWay.splice(0)) end()
      },
    },
  }
}
