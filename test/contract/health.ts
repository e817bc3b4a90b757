import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthenticationFault, NotConfigured } from '../../src/model/faults.ts'
import { addOwner } from '../fixtures/service.ts'
import type { OpenFixture } from './fixture.ts'
import { claim } from './keys/claim.ts'
import { findLastBackup, writeLastBackup } from '../../src/database/last-backup.ts'
import { recordsOf } from '../fixtures/records.ts'

const NOW = 1_790_000_000_123_456

/** What the operator's health checks learn from a store. */
export function healthContract(open: OpenFixture): void {
  test('a probe is decided, and no key loses its second', async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    await Promise.all([store.probeClaims(), store.probeClaims()])
    assert.equal((await recordsOf(store).listApiKeys(user.id))[0]?.last_used_at, null)
    assert.equal((await claim(store, key)).outcome, 'granted')
  })

  test('a probe fails while no key can be looked up', async (t) => {
    const { store, breakApiKeys } = await open(t)
    const restore = await breakApiKeys()
    await assert.rejects(store.probeClaims(), AuthenticationFault)
    await restore()
    await store.probeClaims()
  })

  test('the check of the schema fails where the schema needs a newer program', async (t) => {
    const { store, execute } = await open(t)
    await store.checkSchema()
    await execute(`UPDATE schema_migrations SET program_min = program_min + 900`)
    await assert.rejects(store.checkSchema(), (fault) => {
      assert.ok(fault instanceof NotConfigured)
      assert.match(fault.message, /needs a newer server-listing/)
      return true
    })
    await execute(`UPDATE schema_migrations SET program_min = program_min - 900`)
    await store.checkSchema()
  })

  test('the check of the schema fails where the schema is from before the first release', async (t) => {
    const { store, execute } = await open(t)
    await execute(`UPDATE schema_migrations SET name = '0001-init.sql' WHERE number = 1`)
    await assert.rejects(store.checkSchema(), (fault) => {
      assert.ok(fault instanceof NotConfigured)
      assert.match(fault.message, /tables of a version before 0\.1\.0.*`server-listing apply`/)
      return true
    })
    await execute(`UPDATE schema_migrations SET name = '0001-schema.sql' WHERE number = 1`)
    await store.checkSchema()
  })

  test('the last backup is the one that was recorded last, in every process', async (t) => {
    const { store, openSecond } = await open(t)
    const other = await openSecond()
    assert.equal(await findLastBackup(store.database), null)
    await other.database.transact((transaction) => writeLastBackup(transaction, NOW))
    await other.database.transact((transaction) => writeLastBackup(transaction, NOW + 1))
    assert.equal(await findLastBackup(store.database), NOW + 1)
    assert.equal((await store.measure()).lastBackupAt, NOW + 1)
    // A wall clock that was set back.
    await store.database.transact((transaction) => writeLastBackup(transaction, NOW))
    assert.equal(await findLastBackup(other.database), NOW)
  })

  test('the store counts its batches, and measures the database', async (t) => {
    const { store } = await open(t)
    const before = store.readCounts().claims.batchSizes.sum()
    await store.probeClaims()
    const { claims, pools } = store.readCounts()
    assert.equal(claims.batchSizes.sum(), before + 1)
    assert.equal(claims.shed(), 0)
    for (const { busy, idle, waiting } of Object.values(pools)) {
      assert.ok(busy >= 0 && idle >= 0)
      assert.equal(waiting, 0)
    }
    const { databaseBytes, logBytes, diskFreeBytes, lastBackupAt } = await store.measure()
    assert.equal(lastBackupAt, null)
    assert.ok(databaseBytes >= 4_096)
    assert.ok(logBytes === null || logBytes >= 0)
    assert.ok(diskFreeBytes === null || diskFreeBytes >= 0)
  })
}
