import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { claim } from '../contract/keys/claim.ts'
import { manualClock } from '../fixtures/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { addOwner } from '../fixtures/service.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { removeUser } from '../../src/directory/records/removed-user.ts'
import { recordsOf } from '../fixtures/records.ts'

test("a deleted user's keys are revoked before the first batch deletes servers", async (t) => {
  const store = await openServingSqliteStore(join(temporaryFolder(t), 'listing.db'), manualClock())
  t.after(() => store.close())
  const entries = Array.from({ length: 3_000 }, (_, index) => ({
    name: `${index}`,
    address: `s${index}.example.com`,
  }))
  const { user, key } = await addOwner(store, 'ada@example.com', entries)
  const removed = removeUser(store.database, user.id, operatorAt(presentInstant()))
  const isRevoked = async () =>
    (await recordsOf(store).listApiKeys(user.id))[0]?.revoked_at !== null
  while (!(await isRevoked())) await setImmediate()
  assert.equal((await claim(store, key)).outcome, 'revoked')
  assert.notDeepEqual(await recordsOf(store).listServers(user.id), [])
  assert.equal(await removed, true)
})
