import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import type { Call, Outcome } from '../../../src/claims/call.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { createBatchTimer } from '../../../src/sqlite/claims/slow-batches.ts'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { createClaims, type Claims } from '../../../src/sqlite/claims/claims.ts'
import { NO_LISTINGS } from '../../fixtures/listings.ts'
import { type ManualClock, manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** The claims of a new file, with the connection that records them. Each owner has one server. */
export async function openClaims(t: TestContext): Promise<{
  path: string
  database: DatabaseSync
  claims: Claims
  clock: ManualClock
  ada: string
  bob: string
  revoked: string
}> {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openSqliteStore(path, { create: true })
  const owner = (name: string) =>
    addOwner(store, `${name}@example.com`, [{ name: `of ${name}`, address: 'a.example' }])
  const [ada, bob, eve] = [await owner('ada'), await owner('bob'), await owner('eve')]
  await recordsOf(store).revokeApiKey(eve.user.id, eve.keyId, operatorAt(1))
  await store.close()
  const database = new DatabaseSync(path, { timeout: 0 })
  t.after(() => database.close())
  const clock = manualClock()
  return {
    path,
    database,
    claims: createClaims(database, 'test', clock, createBatchTimer(assert.ifError)),
    clock,
    ada: ada.key,
    bob: bob.key,
    revoked: eve.key,
  }
}

/** Changes the file on a connection that records no claims. */
export function execElsewhere(path: string, sql: string): void {
  const other = new DatabaseSync(path)
  other.exec(`PRAGMA legacy_alter_table = ON; ${sql}`)
  other.close()
}

export function callWith(key: string): Call {
  return { keyHash: hashApiKey(key), listings: NO_LISTINGS }
}

export function nameOf(outcome: Outcome): string {
  return outcome instanceof Error ? outcome.name : outcome.outcome
}
