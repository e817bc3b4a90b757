import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { createClaimQueue } from '../../../src/claims/queue.ts'
import { generateKey } from '../../../src/keys/api-key.ts'
import { AuthenticationFault } from '../../../src/model/faults.ts'
import { createBatchTimer } from '../../../src/sqlite/claims/slow-batches.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { createClaims, SQLITE_QUEUE } from '../../../src/sqlite/claims/claims.ts'
import { claim } from '../../contract/keys/claim.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'
import { turns } from '../../fixtures/turns.ts'
import { callWith } from './open-claims.ts'

/*
 * The claim queue on a real file: locks of another process, and the upkeep between batches.
 */

test('claims wait while another process holds the file, and are decided afterwards', async (t) => {
  const { store, key, other } = await serve(t)
  other.exec('BEGIN IMMEDIATE')
  const keys = [key, ...Array.from({ length: 600 }, generateKey)]
  const claims = Promise.all(keys.map((one) => claim(store, one)))
  await new Promise((resolve) => setTimeout(resolve, 100))
  other.exec('COMMIT')
  const outcomes = new Set((await claims).map(({ outcome }) => outcome))
  assert.deepEqual(outcomes, new Set(['granted', 'unknown']))
})

test('claims expire after waiting one second for the file and limit no later claim', async (t) => {
  const { store, key, other } = await serve(t)
  other.exec('BEGIN IMMEDIATE')
  const startedAt = performance.now()
  await assert.rejects(claim(store, key), /AuthenticationFault: not decided within 1000 ms/)
  assert.ok(performance.now() - startedAt >= 999)
  other.exec('COMMIT')
  assert.equal((await claim(store, key)).outcome, 'granted')
})

test('a batch that finds the file locked does not stop the event loop', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await (await openSqliteStore(path, { create: true })).close()
  const [other, patient] = [new DatabaseSync(path), new DatabaseSync(path, { timeout: 60_000 })]
  for (const one of [other, patient]) t.after(() => one.close())
  const claims = createClaims(patient, 'test', manualClock(), createBatchTimer(assert.ifError))
  assert.equal(patient.prepare('PRAGMA busy_timeout').get()?.timeout, 0)
  other.exec('BEGIN IMMEDIATE')
  assert.equal(claims.claimBatch([callWith(generateKey())]), null)
})

test('closing a store waits for no lock', async (t) => {
  const { store, key, other } = await serve(t)
  other.exec('BEGIN IMMEDIATE')
  const refused = assert.rejects(claim(store, key), AuthenticationFault)
  await store.close()
  await refused
})

test("upkeep runs after a batch's answers; a failed step is repeated after the next", async (t) => {
  const { queue, key, path, clock, compacted, fill } = await openQueue(t)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  const claimLater = async () => {
    clock.elapse(1_000)
    assert.equal((await claim(queue, key)).outcome, 'granted')
  }
  fill()
  await claimLater()
  assert.equal(compacted(), 0)
  other.exec('BEGIN IMMEDIATE')
  await turns()
  other.exec('COMMIT')
  assert.equal(compacted(), 0, 'the step found the file locked')
  await claimLater()
  await turns()
  assert.equal(compacted(), 1)
})

test('a closed queue does no upkeep', async (t) => {
  const { queue, key, clock, compacted, fill } = await openQueue(t)
  fill()
  clock.elapse(1_000)
  const claimed = claim(queue, key)
  await queue.close()
  assert.equal((await claimed).outcome, 'granted')
  await turns()
  assert.equal(compacted(), 0)
})

async function serve(t: TestContext) {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path)
  const { key } = await addOwner(store, 'ada@example.com')
  const other = new DatabaseSync(path)
  t.after(async () => {
    other.close()
    await store.close()
  })
  return { store, key, other }
}

async function openQueue(t: TestContext) {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openSqliteStore(path, { create: true })
  const { key } = await addOwner(store, 'ada@example.com')
  await store.close()
  const database = new DatabaseSync(path, { timeout: 0 })
  t.after(() => database.close())
  const clock = manualClock()
  const claims = createClaims(database, 'test', clock, createBatchTimer(assert.ifError))
  return {
    path,
    clock,
    key,
    queue: createClaimQueue([claims], SQLITE_QUEUE),
    /** The rows of the compaction's first step. */
    compacted: () => Number(database.prepare('SELECT count(*) AS n FROM last_claims').get()?.n),
    /** Records the claims that lack one to the first compaction, in one turn of the event loop. */
    fill() {
      for (let count = 1; count < 32_768; count += 1) {
        clock.elapse(1_000)
        claims.claimBatch([callWith(key)])
      }
    },
  }
}
