import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  cpSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, suite, type TestContext, test } from 'node:test'
import { setImmediate as turnOver, setTimeout as delay } from 'node:timers/promises'
import { copyPages } from '../../../src/archive/sqlite-backup.ts'
import { LOOK_MS } from '../../../src/sqlite/file/file-watch.ts'
import { openServedFile } from '../../../src/sqlite/file/served-file.ts'
import { takeServingLock } from '../../../src/sqlite/file/serving-lock.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import type { ServingStore } from '../../../src/database/store.ts'
import { claim } from '../../contract/keys/claim.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { parentFolder, temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * A file may lack claims that limit a key: another one was here before, or another process still
 * serves. A start then waits, unless the last process has sealed the file as it is.
 */

const BOOT = 'this boot'

/** What happens to a file that a service served and closed, and whether the next start waits. */
const CHANGES: [name: string, waits: boolean, change: (path: string) => void | Promise<void>][] = [
  ['nothing', false, () => {}],
  ['another start and end', false, async (path) => (await openServedFile(path, BOOT)).end()],
  ['another look', false, readUsers],
  ['the lock file is removed', true, (path) => rmSync(`${path}-serving`)],
  ['an older copy is written over it', true, (path) => copyFileSync(`${path}.older`, path)],
  ['an older copy is moved there', true, (path) => renameSync(`${path}.older`, path)],
  [
    'its whole folder is put back, with the lock file',
    true,
    (path) => cpSync(`${dirname(path)}.older`, dirname(path), { recursive: true }),
  ],
  [
    'its whole folder takes the place of a copy that is served',
    true,
    async (path) => {
      const served = await openServedFile(path, BOOT)
      served.begin()
      const [folder, aside] = [dirname(path), `${dirname(path)}.aside`]
      renameSync(folder, aside)
      cpSync(aside, folder, { recursive: true })
      served.end()
    },
  ],
  [
    'another file takes its place while it is served',
    true,
    async (path) => {
      const served = await openServedFile(path, BOOT)
      served.begin()
      renameSync(`${path}.older`, path)
      served.end()
    },
  ],
  [
    'a backup is restored into it while it is served',
    true,
    async (path) => {
      const served = await openServedFile(path, BOOT)
      served.begin()
      const backup = new DatabaseSync(`${path}.older`)
      await copyPages(backup, path)
      backup.close()
      served.end()
    },
  ],
  [
    'a process that serves it is killed',
    true,
    async (path) => {
      const served = await openServedFile(path, BOOT)
      served.begin()
      // What is on the disk then, without the lock of the process.
      const [folder, killed] = [dirname(path), `${dirname(path)}.killed`]
      cpSync(folder, killed, { recursive: true })
      served.end()
      rmSync(folder, { recursive: true })
      renameSync(killed, folder)
    },
  ],
]

suite('a start after', { concurrency: true }, () => {
  const served = mkdtempSync(join(parentFolder(), 'served-'))
  after(() => rmSync(served, { recursive: true }))
  before(async () => {
    const store = await openServingSqliteStore(join(served, 'listing.db'), manualClock(BOOT))
    const { key } = await addOwner(store, 'ada@example.com')
    await claim(store, key)
    await store.close()
  })

  for (const [name, waits, change] of CHANGES)
    test(`${name} ${waits ? 'waits' : 'does not wait'}`, async (t) => {
      const path = await serveTwice(t, served)
      await change(path)
      assert.equal(await startWaits(t, path), waits)
    })

  test('a start in another boot waits', async (t) => {
    const path = await serveTwice(t, served)
    assert.equal(await startWaits(t, path, 'another boot'), true)
  })
})

test('the first start on a file does not wait, also with keys that a command added', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openSqliteStore(path, { create: true })
  await addOwner(store, 'ada@example.com')
  await store.close()
  assert.equal(await startWaits(t, path), false)
  assert.equal(await startWaits(t, join(temporaryFolder(t), 'listing.db')), false)
})

test('a copy from before any key is not served within the second of a key that comes back', async (t) => {
  const folder = temporaryFolder(t)
  const [path, older] = [join(folder, 'listing.db'), join(folder, 'older.db')]
  await (await openServingSqliteStore(path)).close()
  copyFileSync(path, older)
  const second = await openServingSqliteStore(path)
  const { user, key } = await addOwner(second, 'ada@example.com')
  const [issued] = await recordsOf(second).listApiKeys(user.id)
  assert.ok(await isGranted(second, key))
  const grantedAt = performance.now()
  await second.close()
  renameSync(older, path)
  const third = await openServingSqliteStore(path)
  t.after(() => third.close())
  const operator = operatorAt(presentInstant())
  assert.ok(await recordsOf(third).insertUser(user, operator))
  await recordsOf(third).insertApiKey(issued!, hashApiKey(key), 5, operator)
  assert.ok(await isGranted(third, key))
  assert.ok(performance.now() - grantedAt >= 1_000)
})

test('a copy from before the first claim is not served within its second', async (t) => {
  const folder = temporaryFolder(t)
  const [path, older] = [join(folder, 'listing.db'), join(folder, 'older.db')]
  const first = await openServingSqliteStore(path)
  const { key } = await addOwner(first, 'ada@example.com')
  await first.close()
  copyFileSync(path, older)
  const second = await openServingSqliteStore(path)
  assert.ok(await isGranted(second, key))
  const grantedAt = performance.now()
  await second.close()
  renameSync(older, path)
  const third = await openServingSqliteStore(path)
  t.after(() => third.close())
  assert.ok(await isGranted(third, key))
  assert.ok(performance.now() - grantedAt >= 1_000)
})

test('a start that fails releases the lock', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await (await openServingSqliteStore(path)).close()
  damageTable(path, 'boots')
  rmSync(`${path}-serving`)
  await assert.rejects(openServedFile(path, BOOT))
  ;(await takeServingLock(path, 0)).release()
})

test('after its lock file is removed, a process and the next one keep a second apart', async (t) => {
  // Only claims look at the files.
  t.mock.timers.enable({ apis: ['setInterval'] })
  const path = join(temporaryFolder(t), 'listing.db')
  const first = await openServingSqliteStore(path)
  t.after(() => first.close())
  const keys: string[] = []
  for (let index = 0; index < 40; index += 1)
    keys.push((await addOwner(first, `user${index}@example.com`)).key)
  const grantedAt = new Map<string, number>()
  const claimFirst = async (key: string): Promise<boolean> => {
    const granted = await isGranted(first, key)
    if (granted) grantedAt.set(key, performance.now())
    return granted
  }
  // The first claim of a process, and a start, may take longer than a look at the files lasts. The
  // claim before the removal looks anew.
  await delay(LOOK_MS + 1)
  assert.ok(await claimFirst(keys.pop()!))
  rmSync(`${path}-serving`)
  assert.ok(await claimFirst(keys.pop()!))
  const opening = openServingSqliteStore(path)
  for (const key of keys) {
    if (!(await claimFirst(key))) break
    await delay(10)
  }
  const second = await opening
  t.after(() => second.close())
  for (const [key, at] of grantedAt) {
    assert.equal((await claim(second, key)).outcome, 'granted')
    assert.ok(performance.now() - at >= 1_000)
    assert.equal(await isGranted(first, key), false)
  }
})

/** A file that was served, and served again until now; `.older` has copies of the state before. */
async function serveTwice(t: TestContext, served: string): Promise<string> {
  const folder = join(temporaryFolder(t), 'data')
  const path = join(folder, 'listing.db')
  cpSync(served, folder, { recursive: true })
  const file = await openServedFile(path, BOOT)
  file.begin()
  file.end()
  cpSync(served, `${folder}.older`, { recursive: true })
  copyFileSync(join(served, 'listing.db'), `${path}.older`)
  return path
}

/** Without a wait, opening the file takes no turn of the event loop. */
async function startWaits(t: TestContext, path: string, bootId = BOOT): Promise<boolean> {
  const opening = openServedFile(path, bootId)
  t.after(async () => (await opening).end())
  const first = await Promise.race([opening.then(() => 'opened'), turnOver('waits')])
  return first === 'waits'
}

async function isGranted(store: ServingStore, key: string): Promise<boolean> {
  try {
    return (await claim(store, key)).outcome === 'granted'
  } catch {
    return false
  }
}

/** Overwrites the first pages of a table and of its indexes. */
function damageTable(path: string, table: string): void {
  const database = new DatabaseSync(path)
  const roots = database
    .prepare('SELECT rootpage AS page FROM sqlite_schema WHERE tbl_name = ? AND rootpage > 0')
    .all(table) as { page: number }[]
  database.close()
  const file = openSync(path, 'r+')
  for (const { page } of roots)
    writeSync(file, Buffer.alloc(4_096, 1), 0, 4_096, (page - 1) * 4_096)
  closeSync(file)
}

function readUsers(path: string): void {
  const database = new DatabaseSync(path)
  database.prepare('SELECT * FROM users').all()
  database.close()
}
