import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { REGISTERED_MAX } from '../../../../src/servers/server.ts'
import type { ServerEntry } from '../../../../src/servers/server-entry.ts'
import type { OpenFixture } from '../../fixture.ts'
import { addOrganization, addUsers, fields, register, tally } from '../../people.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'
import { importServers } from '../../../fixtures/changed-servers.ts'
import { NOW } from '../../../fixtures/clock.ts'

const ENTRIES: ServerEntry[] = [
  { name: 'new', address: 'new.example.com' },
  { name: 'moved', address: 'moved.example.com', slug: 'known' },
  { name: 'Survival', address: 'same.example.com', slug: 'same' },
]

/** Imports that a user checks before confirming them. */
export function checkedImportsContract(open: OpenFixture): void {
  test('a plan says what would be added, changed and left, and writes nothing', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await register(store, ada!, { slug: 'known' })
    await register(store, ada!, { slug: 'same', address: 'same.example.com' })
    await register(store, ada!, { address: 'new.example.com', organization_id })
    await register(store, bob!, { address: 'new.example.com' })
    const before = await recordsOf(store).listServers(ada!.id)
    const plan = (now = NOW) => recordsOf(store).planServers(ada!.id, null, ENTRIES, now)
    const { changes, fingerprint, added, changed, unchanged, wrong, isTooMany } = await plan()
    assert.deepEqual([added, changed, unchanged, wrong, isTooMany], [1, 1, 1, [], false])
    assert.deepEqual(
      changes.map((one) => [one.before?.name, one.after.name, one.after.address]),
      [
        [undefined, 'new', 'new.example.com'],
        ['Survival', 'moved', 'moved.example.com'],
      ],
    )
    assert.deepEqual(await recordsOf(store).listServers(ada!.id), before)
    assert.equal((await plan(NOW + 1)).fingerprint, fingerprint)
    await register(store, ada!, { name: 'new', address: 'new.example.com' })
    assert.notEqual((await plan()).fingerprint, fingerprint)
  })

  test('a confirmed import saves its entries and leaves unchanged servers alone', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await register(store, ada!, { slug: 'known', version: '1.21' })
    await register(store, ada!, { slug: 'same', address: 'same.example.com' })
    await importServers(store.database, ada!.id, ENTRIES, NOW + 9)
    const listed = await recordsOf(store).listServers(ada!.id)
    assert.deepEqual(
      new Map(
        listed.map(({ name, address, version, updated_at }) => [
          name,
          [address, version, updated_at],
        ]),
      ),
      new Map([
        ['new', ['new.example.com', null, NOW + 9]],
        ['moved', ['moved.example.com', '1.21', NOW + 9]],
        ['Survival', ['same.example.com', null, NOW]],
      ]),
    )
  })

  test('a confirmed import lists its servers in one order, the last one first', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const names = Array.from({ length: 20 }, (_, index) => `server ${index}`)
    const entries = names.map((name, index) => ({ name, address: `s${index}.example.com` }))
    await importServers(store.database, ada!.id, entries, NOW)
    const listed = await recordsOf(store).listServers(ada!.id)
    assert.deepEqual(
      listed.map(({ name }) => name),
      names.toReversed(),
    )
  })

  test('an import is saved once, however often it is confirmed', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    const id = randomUUID()
    const { fingerprint } = await recordsOf(store).planServers(ada!.id, null, ENTRIES, NOW)
    const outcomes = await Promise.all(
      [store, second, store].map((one) =>
        recordsOf(one).saveChecked(ada!.id, ENTRIES, operatorAt(NOW), { id, fingerprint }),
      ),
    )
    assert.deepEqual(tally(outcomes), { null: 3 })
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, 3)
  })

  test('an import whose servers have changed since the check is not saved', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const server = await register(store, ada!, { slug: 'known' })
    const { planServers, saveChecked, updateServer } = recordsOf(store)
    const { fingerprint } = await planServers(ada!.id, null, ENTRIES, NOW)
    const values = fields({ slug: 'known', version: '2' })
    await updateServer(ada!.id, server, values, operatorAt(NOW))
    const confirm = (shown: string) =>
      saveChecked(ada!.id, ENTRIES, operatorAt(NOW), { id: randomUUID(), fingerprint: shown })
    const changed = await confirm(fingerprint)
    assert.deepEqual([changed?.added, changed?.changed], [2, 1])
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, 1)
    assert.equal(await confirm(changed!.fingerprint), null)
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, 3)
  })

  test('an import keeps to REGISTERED_MAX, and can still change servers there', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const full = Array.from({ length: REGISTERED_MAX }, (_, index) => ({
      name: 'imported',
      address: `s${index}.example.com`,
    }))
    const { planServers, saveChecked, saveServers } = recordsOf(store)
    await saveServers(ada!.id, null, full, operatorAt(NOW))
    const limit = { ownedMax: REGISTERED_MAX }
    for (const [entry, isTooMany] of [
      [{ name: 'more', address: 'more.example.com' }, true],
      [{ name: 'imported', address: 's1.example.com', version: '2' }, false],
    ] as const) {
      const planned = await planServers(ada!.id, null, [entry], NOW, limit)
      assert.equal(planned.isTooMany, isTooMany)
      const { fingerprint } = planned
      const confirmed = { ...limit, id: randomUUID(), fingerprint }
      const saved = await saveChecked(ada!.id, [entry], operatorAt(NOW), confirmed)
      assert.equal(saved === null, !isTooMany)
    }
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, REGISTERED_MAX)
  })
}
