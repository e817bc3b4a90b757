import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { createBatchTimer } from '../../../src/sqlite/claims/slow-batches.ts'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { createClaims } from '../../../src/sqlite/claims/claims.ts'
import { NO_LISTINGS } from '../../fixtures/listings.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'

test('a claim is stamped after its list is read, however long that takes', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openSqliteStore(path, { create: true })
  const { key } = await addOwner(store, 'ada@example.com', [{ name: 'a', address: 'a.example' }])
  await store.close()
  const clock = manualClock()
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  database.function('slow', () => {
    clock.elapse(80)
    return 1
  })
  database.exec(`
    PRAGMA legacy_alter_table = ON;
    ALTER TABLE servers RENAME TO elsewhere;
    CREATE VIEW servers AS SELECT * FROM elsewhere WHERE slow();
  `)
  const begunAt = clock.monotonic()
  const claims = createClaims(database, 'test', clock, createBatchTimer(assert.ifError))
  const [outcome] = claims.claimBatch([{ keyHash: hashApiKey(key), listings: NO_LISTINGS }])!
  assert.ok(outcome && 'outcome' in outcome && outcome.outcome === 'granted')
  assert.equal(clock.monotonic(), begunAt + 80_000)
  const { claimed_at, monotonic } = database
    .prepare('SELECT claimed_at, monotonic FROM recent_claims')
    .get()!
  assert.deepEqual([claimed_at, monotonic], [clock.present(), clock.monotonic()])
})
