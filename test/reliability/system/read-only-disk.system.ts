import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { NotConfigured } from '../../../src/model/faults.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { NO_LISTINGS } from '../../fixtures/listings.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { addOwner, addUser } from '../../fixtures/service.ts'
import { lastFirst } from '../history/battlefield/ends.ts'
import { startOtherProcess } from '../history/traffic/other-process.ts'
import { mountSmallDisk, type SmallDisk } from '../history/faults/small-disk.ts'

/*
 * SQLite opens a file on a read-only disk without an error. The connection then stays read-only for
 * life, even when the disk accepts writes again.
 */

const FILES = /^listing\.db(-wal)?$/
const DISK_MEGABYTES = 16
/** A service that finds claims of another boot waits one second between its two connections. */
const WITHIN_WAIT_MS = 400

interface Subject {
  disk: SmallDisk
  path: string
}

/** A database on its own disk, with one claim of the boot "first". */
async function makeDatabase(t: Pick<TestContext, 'after'>): Promise<Subject> {
  const disk = mountSmallDisk(t, DISK_MEGABYTES)
  const path = join(disk.folder, 'listing.db')
  const store = await openServingSqliteStore(path, manualClock('first'))
  const { key } = await addOwner(store, 'ada@example.com')
  const { outcome } = await store.claim(hashApiKey(key), NO_LISTINGS)
  assert.equal(outcome, 'granted')
  await store.close()
  return { disk, path }
}

test('a service that starts on a read-only disk serves nothing, the next one does', async (t) => {
  const ends = lastFirst(t)
  const { disk, path } = await makeDatabase(ends)
  assert.equal(disk.protect(FILES), 1)
  const opening = openServingSqliteStore(path, manualClock('second'))
  await delay(WITHIN_WAIT_MS)
  disk.unprotect()
  await assert.rejects(opening, (error) => {
    assert.ok(error instanceof NotConfigured, String(error))
    assert.match(error.message, /the disk is read-only$/)
    return true
  })
  const store = await openServingSqliteStore(path, manualClock('second'))
  ends.after(() => store.close())
  await addUser(store, 'bob@example.com')
})

test('another process writes again after its disk was read-only', async (t) => {
  const ends = lastFirst(t)
  const { disk, path } = await makeDatabase(ends)
  const other = await startOtherProcess(`sqlite:${path}`)
  ends.after(other.close)
  assert.equal(disk.protect(FILES), 2)
  await other.execute('BEGIN IMMEDIATE')
  disk.unprotect()
  await other.execute('UPDATE users SET email = email; COMMIT')
})
