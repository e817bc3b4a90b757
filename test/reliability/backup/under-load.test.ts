import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { AuthenticationFault } from '../../../src/listing/faults.ts'
import type { ServingStore } from '../../../src/listing/store.ts'
import { backUpSqlite } from '../../../src/sqlite/backup/backup.ts'
import { prepareRestore } from '../../../src/sqlite/backup/restore.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { claim } from '../../contract/keys/claim.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner, addUser } from '../../fixtures/service.ts'
import { rowsOf } from '../../sqlite/backup/files.ts'

const BACKUPS = 50

test('fifty backups under load have all that was acknowledged, and restore to the same rows', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'listing.db')
  const clock = manualClock()
  const store = await openServingSqliteStore(path, clock)
  t.after(store.close)
  const { key } = await addOwner(store, 'ada@example.com')
  const load = startLoad(store, key, () => clock.elapse(1_000))
  const restores: Promise<void>[] = []
  for (let number = 0; number < BACKUPS; number += 1) {
    const target = join(folder, `backup-${number}`)
    const before = load.acknowledged()
    const { users } = await backUpSqlite(path, target, '1')
    const uses = usesIn(target)
    const after = load.begun()
    assert.ok(users - 1 >= before.users && users - 1 <= after.users, `${users} users`)
    assert.ok(uses >= before.claims && uses <= after.claims, `${uses} claims`)
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
function startLoad(store: ServingStore, key: string, elapse: () => void) {
  const begun = { users: 0, claims: 0 }
  const acknowledged = { users: 0, claims: 0 }
  const over = new AbortController()
  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      begun.users += 1
      await addUser(store, `user-${begun.users}@example.com`)
      acknowledged.users += 1
      elapse()
      begun.claims += 1
      if (await isGranted(store, key)) acknowledged.claims += 1
      else begun.claims -= 1
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

/** The number of the latest claim. Numbers have no gaps, and compaction keeps the latest. */
function usesIn(path: string): number {
  const rows = rowsOf(path).uses as { number: number }[]
  return Math.max(...rows.map(({ number }) => number), 0)
}

async function restoresAlike(target: string, path: string): Promise<void> {
  const prepared = await prepareRestore(path, target, [])
  await prepared.apply()
  await prepared.close()
  const { last_backup: last, ...rows } = rowsOf(path)
  const { last_backup: before, ...expected } = rowsOf(target)
  assert.deepEqual(rows, expected)
  assert.deepEqual([before!.length, last!.length], [0, 1])
}
