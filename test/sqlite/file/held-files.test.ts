import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createUser } from '../../../src/accounts/user.ts'
import type { ServingStore } from '../../../src/database/store.ts'
import type { Clock } from '../../../src/sqlite/claims/clock.ts'
import { LOOK_MS } from '../../../src/sqlite/file/file-watch.ts'
import { holdFiles, identityOf } from '../../../src/sqlite/file/held-files.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { claim } from '../../contract/keys/claim.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { addOwner } from '../../fixtures/service.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Another program removes or replaces files of the service. The service holds them open and would
 * not notice by itself.
 */

suite('files of a service', { concurrency: true }, () => {
  for (const name of ['', '-wal', '-shm', '-serving'])
    for (const how of ['removed', 'replaced'] as const)
      test(`once listing.db${name} is ${how}, requests fail with one log line`, async (t) => {
        const { path, store, key, faults } = await openServed(t)
        const file = `${path}${name}`
        const aside = `${file}.aside`
        renameSync(file, aside)
        if (how === 'replaced') copyFileSync(aside, file)
        await lost(store, key)
        assert.equal(faults.length, 1)
        assert.match(
          String(faults[0]),
          new RegExp(`: listing\\.db${name} was ${how} while this.*restart the service`),
        )
        // The failure lasts as long as the file is missing. The log knows the requests' fault.
        await delay(1_200)
        await assert.rejects(claim(store, key), (fault) => fault === faults[0])
        assert.equal(faults.length, 1)
        renameSync(aside, file)
        await eventually(async () => (await answerTo(store, key)) === 'granted')
      })
})

test('the service looks at its files once a second, without a request, too', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { path, faults } = await openServed(t)
  renameSync(path, `${path}.aside`)
  t.mock.timers.tick(999)
  assert.equal(faults.length, 0)
  t.mock.timers.tick(1)
  assert.equal(faults.length, 1)
})

test('no claim is decided later than LOOK_MS after a look at the files', async (t) => {
  const clock = manualClock()
  const { path, store, key } = await openStill(t, clock)
  renameSync(path, `${path}.aside`)
  assert.equal(await answerTo(store, key), 'granted')
  clock.elapse(LOOK_MS)
  assert.equal(await answerTo(store, key), 'limited')
  clock.elapse(0.001)
  assert.equal(await answerTo(store, key), 'AuthenticationFault')
})

test('a process that stands still within a batch looks before it stamps the claims', async (t) => {
  const clock = manualClock()
  const { path, store, key } = await openStill(t, clock)
  renameSync(path, `${path}.aside`)
  const { monotonic } = clock
  let reads = 0
  // The first read decides whether a key is limited, the second one is the stamp.
  clock.monotonic = () => {
    reads += 1
    if (reads === 2) clock.elapse(LOOK_MS + 0.001)
    return monotonic()
  }
  assert.equal(await answerTo(store, key), 'AuthenticationFault')
})

test('the dashboard does not confirm a change in a file that has lost its path', async (t) => {
  const { path, store } = await openServed(t)
  rmSync(path)
  const user = createUser('eve@example.com')
  await assert.rejects(
    recordsOf(store).insertUser(user, operatorAt(presentInstant())),
    /listing\.db was removed while/,
  )
  await assert.rejects(recordsOf(store).listUserRecords(), /listing\.db was removed while/)
})

test('the dashboard looks at the files after its changes, not after what it reads', async (t) => {
  const { path, store } = await openStill(t, manualClock())
  renameSync(path, `${path}.aside`)
  assert.equal((await recordsOf(store).listUserRecords()).length, 1)
  const change = recordsOf(store).insertUser(
    createUser('eve@example.com'),
    operatorAt(presentInstant()),
  )
  await assert.rejects(change, /listing\.db was removed while/)
})

test('the service notices a link that now points at another file', async (t) => {
  const folder = temporaryFolder(t)
  const [path, link] = [join(folder, 'listing.db'), join(folder, 'link.db')]
  writeFileSync(path, '')
  symlinkSync(path, link)
  const { store, key } = await openServed(t, link)
  rmSync(link)
  symlinkSync(join(folder, 'other.db'), link)
  await lost(store, key)
})

test('an error of the look at the files is told as what it is', async (t) => {
  const folder = temporaryFolder(t)
  const [home, link, aside] = [join(folder, 'home'), join(folder, 'link'), join(folder, 'aside')]
  mkdirSync(home)
  symlinkSync(home, link)
  const { store, key, faults } = await openServed(t, join(link, 'listing.db'))
  renameSync(link, aside)
  symlinkSync(link, link)
  await lost(store, key)
  assert.match(
    String(faults[0]),
    /can't look at listing\.db \(ELOOP\); give .* access .*continues by itself$/,
  )
  rmSync(link)
  renameSync(aside, link)
  await eventually(async () => (await answerTo(store, key)) === 'granted')
})

test('the message names what happened to each file', (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  for (const name of ['', '-wal', '-shm', '-serving']) writeFileSync(`${path}${name}`, '')
  const files = holdFiles(path, identityOf(path), identityOf(`${path}-serving`))
  assert.equal(files.look().fault, null)
  rmSync(`${path}-wal`)
  rmSync(`${path}-shm`)
  renameSync(path, `${path}.aside`)
  writeFileSync(path, '')
  assert.match(
    String(files.look().fault),
    /: listing\.db was replaced while this process had it open, and listing\.db-wal, listing\.db-shm were removed while this process had them open; restart/,
  )
})

/** A serving store with one key, and the faults that it has logged. */
async function openServed(
  t: TestContext,
  path = join(temporaryFolder(t), 'listing.db'),
  clock?: Clock,
): Promise<{ path: string; store: ServingStore; key: string; faults: unknown[] }> {
  const faults: unknown[] = []
  const store = await openServingSqliteStore(path, clock, (fault) => faults.push(fault))
  t.after(() => store.close())
  const { key } = await addOwner(store, 'ada@example.com')
  return { path, store, key, faults }
}

/** The same, with a clock and a timer that stand still. */
async function openStill(t: TestContext, clock: Clock): ReturnType<typeof openServed> {
  t.mock.timers.enable({ apis: ['setInterval'] })
  return openServed(t, join(temporaryFolder(t), 'listing.db'), clock)
}

async function answerTo(store: ServingStore, key: string): Promise<string> {
  try {
    return (await claim(store, key)).outcome
  } catch (error) {
    return (error as Error).name
  }
}

/** Resolves when a claim of the key fails. */
async function lost(store: ServingStore, key: string): Promise<void> {
  await eventually(async () => (await answerTo(store, key)) === 'AuthenticationFault')
}
