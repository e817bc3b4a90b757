import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { IMPORT_KEPT_US, IMPORTS_MAX } from '../../../../src/servers/server-import.ts'
import { REGISTERED_MAX } from '../../../../src/servers/server.ts'
import type { ServerEntry } from '../../../../src/servers/server-entry.ts'
import { PLANNED_MAX } from '../../../../src/servers/records/import/parts.ts'
import type { OpenFixture } from '../../fixture.ts'
import { addOrganization, addUsers, fields, NOW, register, saved, tally } from '../../people.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'

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
    const { fingerprint, ...planned } = await recordsOf(store).planServers(ada!.id, ENTRIES)
    assert.deepEqual(planned, {
      ...saved({ added: 1, changed: 1, unchanged: 1 }),
      listed: {
        added: [{ name: 'new', address: 'new.example.com', fields: [] }],
        changed: [
          {
            name: 'moved',
            address: 'moved.example.com',
            fields: [
              { name: 'name', from: 'Survival', to: 'moved' },
              { name: 'address', from: 'play.example.com', to: 'moved.example.com' },
            ],
          },
        ],
      },
      isTooMany: false,
    })
    assert.deepEqual(await recordsOf(store).listServers(ada!.id), before)
    assert.equal((await recordsOf(store).planServers(ada!.id, ENTRIES)).fingerprint, fingerprint)
    await register(store, ada!, { name: 'new', address: 'new.example.com' })
    assert.notEqual((await recordsOf(store).planServers(ada!.id, ENTRIES)).fingerprint, fingerprint)
  })

  test('a confirmed import saves the kept entries and leaves unchanged servers alone', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await register(store, ada!, { slug: 'known', version: '1.21' })
    await register(store, ada!, { slug: 'same', address: 'same.example.com' })
    const id = randomUUID()
    const places = ['row 2', 'row 4', 'row 5']
    await recordsOf(store).keepImport(ada!.id, id, ENTRIES, NOW, places)
    const kept = await recordsOf(store).findImport(ada!.id, id, NOW)
    assert.deepEqual(kept, { entries: ENTRIES, places, saved: null })
    assert.equal(await recordsOf(store).findImport(bob!.id, id, NOW), null)
    const { fingerprint } = await recordsOf(store).planServers(ada!.id, ENTRIES)
    assert.equal(
      await recordsOf(store).saveImport(bob!.id, id, fingerprint, operatorAt(NOW)),
      'not found',
    )
    assert.equal(
      await recordsOf(store).saveImport(ada!.id, id, fingerprint, operatorAt(NOW + 9)),
      'saved',
    )
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
    const counts = { added: 1, changed: 1, unchanged: 1, duplicates: 0 }
    assert.deepEqual((await recordsOf(store).findImport(ada!.id, id, NOW))?.saved, counts)
  })

  test('a confirmed import lists its servers in one order, the last one first', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const names = Array.from({ length: 20 }, (_, index) => `server ${index}`)
    const id = randomUUID()
    const entries = names.map((name, index) => ({ name, address: `s${index}.example.com` }))
    await recordsOf(store).keepImport(ada!.id, id, entries, NOW)
    const { fingerprint } = await recordsOf(store).planServers(ada!.id, entries)
    assert.equal(
      await recordsOf(store).saveImport(ada!.id, id, fingerprint, operatorAt(NOW)),
      'saved',
    )
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
    await recordsOf(store).keepImport(ada!.id, id, ENTRIES, NOW)
    await recordsOf(store).keepImport(ada!.id, id, [], NOW)
    const { fingerprint } = await recordsOf(store).planServers(ada!.id, ENTRIES)
    const outcomes = await Promise.all(
      [store, second, store].map((one) =>
        recordsOf(one).saveImport(ada!.id, id, fingerprint, operatorAt(NOW)),
      ),
    )
    assert.deepEqual(tally(outcomes), { saved: 3 })
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, 3)
  })

  test('an import whose servers have changed since the check is not saved', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const server = await register(store, ada!, { slug: 'known' })
    const id = randomUUID()
    await recordsOf(store).keepImport(ada!.id, id, ENTRIES, NOW)
    const { fingerprint } = await recordsOf(store).planServers(ada!.id, ENTRIES)
    await recordsOf(store).updateServer(
      ada!.id,
      server,
      fields({ slug: 'known', version: '2' }),
      operatorAt(NOW),
    )
    assert.equal(
      await recordsOf(store).saveImport(ada!.id, id, fingerprint, operatorAt(NOW)),
      'replanned',
    )
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, 1)
    const again = await recordsOf(store).planServers(ada!.id, ENTRIES)
    assert.equal(
      await recordsOf(store).saveImport(ada!.id, id, again.fingerprint, operatorAt(NOW)),
      'saved',
    )
  })

  test('other work runs while many entries are planned', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = Array.from({ length: 2 * PLANNED_MAX + 1 }, (_, index) => ({
      name: 'planned',
      address: `s${index}.example.com`,
    }))
    let turns = 0
    let next = setImmediate(function turn() {
      turns += 1
      next = setImmediate(turn)
    })
    t.after(() => clearImmediate(next))
    const { added } = await recordsOf(store).planServers(ada!.id, entries)
    clearImmediate(next)
    assert.equal(added, entries.length)
    assert.ok(turns >= 2, `${turns} turns`)
  })

  test('an import keeps to REGISTERED_MAX, and can still change servers there', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const full = Array.from({ length: REGISTERED_MAX }, (_, index) => ({
      name: 'imported',
      address: `s${index}.example.com`,
    }))
    await recordsOf(store).saveServers(ada!.id, null, full, operatorAt(NOW))
    for (const [entries, outcome] of [
      [[{ name: 'more', address: 'more.example.com' }], 'too many'],
      [[{ name: 'imported', address: 's1.example.com', version: '2' }], 'saved'],
    ] as const) {
      const id = randomUUID()
      await recordsOf(store).keepImport(ada!.id, id, entries, NOW)
      const planned = await recordsOf(store).planServers(ada!.id, entries)
      assert.equal(planned.isTooMany, outcome === 'too many')
      assert.equal(
        await recordsOf(store).saveImport(ada!.id, id, planned.fingerprint, operatorAt(NOW)),
        outcome,
      )
    }
    assert.equal((await recordsOf(store).listServers(ada!.id)).length, REGISTERED_MAX)
  })

  test('an import waits for IMPORT_KEPT_US, and a user keeps the latest IMPORTS_MAX', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const ids = Array.from({ length: IMPORTS_MAX + 1 }, () => randomUUID())
    for (const [index, id] of ids.entries())
      await recordsOf(store).keepImport(ada!.id, id, ENTRIES, NOW + index)
    assert.equal(await recordsOf(store).findImport(ada!.id, ids[0]!, NOW), null)
    assert.notEqual(await recordsOf(store).findImport(ada!.id, ids[1]!, NOW), null)
    const last = ids.at(-1)!
    const until = NOW + IMPORTS_MAX + IMPORT_KEPT_US
    assert.equal(await recordsOf(store).findImport(ada!.id, last, until), null)
    assert.equal(
      await recordsOf(store).saveImport(ada!.id, last, '', operatorAt(until)),
      'not found',
    )
  })
}
