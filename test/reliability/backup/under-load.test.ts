import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { backUpSqlite } from '../../../src/archive/sqlite-backup.ts'
import { AuthenticationFault } from '../../../src/model/faults.ts'
import type { ServingStore } from '../../../src/database/store.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { claim } from '../../contract/keys/claim.ts'
import { type ManualClock, manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner, addUser } from '../../fixtures/service.ts'
import { restoreFile, rows, rowsOf } from '../../archive/files.ts'

const BACKUPS = 50

test('fifty backups under load have all that was acknowledged, and restore to the same rows', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  const clock = manualClock()
  const store = await openServingSqliteStore(path, clock)
  t.after(store.close)
  const { key } = await addOwner(store, 'ada@example.com')
  const load = startLoad(store, key, clock)
  const restores: Promise<void>[] = []
  for (let number = 0; number < BACKUPS; number += 1) {
    const target = join(folder, `backup-${number}`)
    const before = load.acknowledged()
    const { users } = await backUpSqlite(path, target)
    const used = lastUseIn(target)
    const after = load.begun()
    assert.ok(users - 1 >= before.users && users - 1 <= after.users, `${users} users`)
    assert.ok(used >= before.usedAt && used <= clock.present(), `used at ${used}`)
    restores.push(restoresAlike(target, join(folder, `restored-${number}.db`)))
  }
  await load.end()
  await Promise.all(restores)
  const { users, claims } = load.acknowledged()
  t.diagnostic(`${users} users were added and ${claims} claims granted beside ${BACKUPS} backups`)
  assert.ok(users >= BACKUPS && claims >= BACKUPS)
})

/** What the store says about a claim that no engine took in time. */
const UNDECIDED = /^not decided within \d+ ms/

/**
 * Adds users and claims with one key until its end, and counts both. A backup in this process can
 * hold a claim up for too long. The store then says that it did not decide the claim, so no backup
 * may have it.
 */
function startLoad(store: ServingStore, key: string, clock: ManualClock) {
  const begun = { users: 0, claims: 0 }
  const acknowledged = { users: 0, claims: 0, usedAt: 0 }
  const over = new AbortController()
  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      begun.users += 1
      await addUser(store, `user-${begun.users}@example.com`)
      acknowledged.users += 1
      clock.elapse(1_000)
      begun.claims += 1
      if (await isGranted(store, key)) {
        acknowledged.claims += 1
        acknowledged.usedAt = clock.present()
      } else begun.claims -= 1
      await turn()
    }
  }
  const working = work()
  return {
    begun: () => ({ ...begun }),
    acknowledged: () => ({ ...acknowledged }),
    async end(): Promise<void> {
      over.abort()
      await working
    },
  }
}

/** False if the store did not decide the claim. Any other fault or outcome fails the test. */
async function isGranted(store: ServingStore, key: string): Promise<boolean> {
  try {
    assert.equal((await claim(store, key)).outcome, 'granted')
    return true
  } catch (fault) {
    if (fault instanceof AuthenticationFault && UNDECIDED.test(fault.message)) return false
    throw fault
  }
}

function lastUseIn(path: string): number {
  return Number(rows(path, 'SELECT max(claimed_at) FROM older_claims').flat()[0])
}

async function restoresAlike(target: string, path: string): Promise<void> {
  await restoreFile(path, target)
  const { schema_migrations: _, audit_log: entries, ...restored } = rowsOf(path)
  const { schema_migrations: __, audit_log: before, ...expected } = rowsOf(target)
  assert.deepEqual(restored, expected)
  const others = entries!.filter((row) => !JSON.stringify(row).includes('"database restored"'))
  assert.deepEqual([others, entries!.length], [before, before!.length + 1])
}
