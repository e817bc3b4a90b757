import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { CHANGES_MAX, CHANGES_SIZE_MAX, UNDO_US } from '../../../src/servers/server-change.ts'
import { SERVERS_MAX } from '../../../src/model/server-row.ts'
import type { Store } from '../../../src/database/store.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, fields, join, register } from '../people.ts'
import { changeAll, importServers } from '../../fixtures/changed-servers.ts'
import { serverChanges } from '../../../src/servers/records/server-changes.ts'
import { servers } from '../../../src/servers/records/servers.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

const DRAFT = { status: 'draft' } as const
const PUBLISHED = { status: 'published' } as const

/** Changes of several servers, and what the store keeps of them. */
export function serverChangesContract(open: OpenFixture): void {
  test('one change sets the status of several servers and says which changed', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const drafts = [await register(store, ada!, { status: 'draft', name: 'one' }, NOW - 1)]
    drafts.push(await register(store, ada!, { status: 'draft', name: 'two' }, NOW - 2))
    const published = await register(store, ada!, {}, NOW - 3)
    const ofBob = await register(store, bob!, { status: 'draft' })
    const all = [...drafts, published, ofBob, randomUUID(), 'nothing']
    const made = await changeAll(store.database, ada!.id, all, PUBLISHED, NOW)
    const changed = [
      { id: drafts[0], name: 'one' },
      { id: drafts[1], name: 'two' },
    ]
    const { id } = made
    const action = 'servers published'
    assert.deepEqual(made, {
      id,
      action,
      changed,
      added: 0,
      entered: [],
      left: [],
      restored: null,
    })
    assert.deepEqual(await changesIn(store).findChange(ada!.id, id, NOW), made)
    assert.equal(await changesIn(store).findChange(bob!.id, id, NOW), null)
    for (const [server, updated_at] of [
      [drafts[0], NOW],
      [drafts[1], NOW],
      [published, NOW - 3],
    ] as const) {
      const found = await serversIn(store).findServer(ada!.id, server!)
      assert.deepEqual([found?.status, found?.updated_at], ['published', updated_at])
    }
    assert.equal((await serversIn(store).findServer(bob!.id, ofBob))?.status, 'draft')
  })

  test('a change whose id is known changes nothing more, also at the same moment', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    const servers = [await register(store, ada!), await register(store, ada!)]
    const wanted = { id: randomUUID(), becomes: null, servers }
    const made = await Promise.all(
      [store, second, store, second].map((one) =>
        recordsOf(one).changeServers(ada!.id, wanted, OPERATOR),
      ),
    )
    for (const one of made) assert.deepEqual(one, made[0])
    assert.ok('changed' in made[0]! && made[0].changed.length === 2)
    const again = { ...wanted, id: randomUUID() }
    assert.deepEqual(await changesIn(store).changeServers(ada!.id, again, OPERATOR), {
      reason: 'not found',
    })
  })

  test('an edit with an id is a change, and sent twice it edits once', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const server = await register(store, ada!)
    const [id, same] = [randomUUID(), randomUUID()]
    const edit = (name: string, now: number, change: string) => {
      const { updateServer } = serversIn(store)
      return updateServer(ada!.id, server, fields({ name }), operatorAt(now), undefined, change)
    }
    assert.equal(await edit('edited', NOW + 1, id), 'written')
    assert.equal(await edit('edited', NOW + 2, id), 'written')
    const found = await serversIn(store).findServer(ada!.id, server)
    assert.deepEqual([found?.name, found?.updated_at], ['edited', NOW + 1])
    const change = await changesIn(store).findChange(ada!.id, id, NOW + 2)
    assert.deepEqual(change?.changed, [{ id: server, name: 'edited' }])
    const { updateServer } = serversIn(store)
    const wanted = fields({ name: 'edited' })
    await updateServer(ada!.id, server, wanted, operatorAt(NOW + 3), 'seen', same)
    assert.deepEqual((await changesIn(store).findChange(ada!.id, same, NOW + 3))?.changed, [])
  })

  test('a change can be undone for UNDO_US, and a user keeps the latest CHANGES_MAX', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const servers = [await register(store, ada!)]
    const ids: string[] = []
    for (let index = 0; index <= CHANGES_MAX; index += 1) {
      const becomes = index % 2 === 0 ? DRAFT : PUBLISHED
      ids.push((await changeAll(store.database, ada!.id, servers, becomes, NOW + index)).id)
    }
    assert.equal(await changesIn(store).findChange(ada!.id, ids[0]!, NOW + 30), null)
    assert.notEqual(await changesIn(store).findChange(ada!.id, ids[1]!, NOW + 30), null)
    const last = ids.at(-1)!
    const until = NOW + CHANGES_MAX + UNDO_US
    assert.equal(await changesIn(store).undoChange(ada!.id, last, operatorAt(until)), null)
    assert.notEqual(await changesIn(store).findChange(ada!.id, last, until - 1), null)
    const again = { id: last, becomes: PUBLISHED, servers }
    const made = await changesIn(store).changeServers(ada!.id, again, operatorAt(until))
    assert.ok('changed' in made && made.changed.length === 1)
  })

  test('the changes of a user take CHANGES_SIZE_MAX together, and the latest one stays', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const size = Math.ceil(CHANGES_SIZE_MAX / 3)
    const long = { name: 'long', address: 'long.example.com', version: 'x'.repeat(size) }
    const ids = [await importServers(store.database, ada!.id, [long], NOW)]
    const [server] = await recordsOf(store).listServers(ada!.id)
    for (const [index, becomes] of [DRAFT, PUBLISHED, DRAFT, null].entries()) {
      const now = NOW + 1 + index
      ids.push((await changeAll(store.database, ada!.id, [server!.id], becomes, now)).id)
    }
    const kept = await Promise.all(
      ids.map((id) => changesIn(store).findChange(ada!.id, id, NOW + 9)),
    )
    assert.deepEqual(
      kept.map((one) => one !== null),
      [false, false, false, true, true],
    )
  })

  test('a change says which servers entered the listing, and which left it', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = Array.from({ length: SERVERS_MAX + 2 }, (_, index) => ({
      name: `number ${index}`,
      address: `s${index}.example.com`,
      updated_at: NOW - index,
    }))
    const imported = await importServers(store.database, ada!.id, entries, NOW)
    const first = await changesIn(store).findChange(ada!.id, imported, NOW)
    assert.deepEqual([first?.changed.length, first?.entered.length], [SERVERS_MAX + 2, SERVERS_MAX])
    const listed = await recordsOf(store).listServers(ada!.id)
    const last = listed.at(-1)!
    const named = (index: number) => ({ id: listed[index]!.id, name: listed[index]!.name })
    const drafted = await changeAll(store.database, ada!.id, [last.id], DRAFT, NOW + 1)
    assert.deepEqual([drafted.entered, drafted.left], [[named(SERVERS_MAX + 1)], [named(99)]])
    const removed = await changeAll(store.database, ada!.id, [listed[0]!.id], null, NOW + 2)
    assert.deepEqual([removed.entered, removed.left], [[named(99)], [named(0)]])
  })

  movesContract(open)
}

function movesContract(open: OpenFixture): void {
  test('servers move to an organization and back, and the listing says so', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const organization_id = await addOrganization(store, ada!)
    const servers = [await register(store, ada!, { slug: 'one' }), await register(store, ada!)]
    const moved = await changeAll(store.database, ada!.id, servers, { organization_id }, NOW + 1)
    assert.deepEqual([moved.action, moved.movedTo], ['servers moved', organization_id])
    assert.deepEqual([moved.left.length, moved.entered.length], [2, 0])
    assert.deepEqual(await recordsOf(store).previewListing(ada!.id), [])
    const again = await changeAll(store.database, ada!.id, servers, { organization_id }, NOW + 2)
    assert.deepEqual([again.changed, again.movedTo], [[], undefined])
    const personal = { organization_id: null }
    const back = await changeAll(store.database, ada!.id, servers, personal, NOW + 3)
    assert.deepEqual([back.movedTo, back.entered.length], [null, 2])
  })

  test('a move needs membership in the new organization, and none in the old one', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    const server = await register(store, bob!)
    const move = (id: string | null) =>
      changesIn(store).changeServers(
        bob!.id,
        { id: randomUUID(), becomes: { organization_id: id }, servers: [server] },
        OPERATOR,
      )
    for (const id of [organization_id, randomUUID(), 'x'])
      assert.deepEqual(await move(id), { reason: 'not a member' })
    await join(store, organization_id, ada!, bob!)
    assert.ok('changed' in (await move(organization_id)))
    await recordsOf(store).removeMember(bob!.id, organization_id, bob!.id, OPERATOR)
    assert.deepEqual(await move(organization_id), { reason: 'not a member' })
    assert.ok('changed' in (await move(null)))
  })

  test('a move that would make a slug twice moves nothing and names the slug', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const [one, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    const servers = [
      await register(store, ada!, { slug: 'there', organization_id: one }),
      await register(store, ada!, { slug: 'twice', organization_id: one }),
      await register(store, ada!, { slug: 'twice', organization_id: other }),
    ]
    await register(store, ada!, { slug: 'there' })
    const before = await recordsOf(store).listServers(ada!.id)
    const id = randomUUID()
    const becomes = { organization_id: null }
    const made = await changesIn(store).changeServers(ada!.id, { id, becomes, servers }, OPERATOR)
    assert.deepEqual(made, { reason: 'slugs taken', slugs: ['there', 'twice'] })
    assert.deepEqual(await recordsOf(store).listServers(ada!.id), before)
    assert.equal(await changesIn(store).findChange(ada!.id, id, NOW), null)
  })

  test('a former member can delete a server under the organization, but not change it', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await join(store, organization_id, ada!, bob!)
    const servers = [await register(store, bob!, { organization_id })]
    await recordsOf(store).removeMember(bob!.id, organization_id, bob!.id, OPERATOR)
    const draft = { id: randomUUID(), becomes: DRAFT, servers }
    const refused = await changesIn(store).changeServers(bob!.id, draft, OPERATOR)
    assert.deepEqual(refused, { reason: 'not found' })
    await changeAll(store.database, bob!.id, servers, null, NOW)
    assert.deepEqual(await recordsOf(store).listServers(bob!.id), [])
  })
}

const changesIn = ({ database }: Store) => serverChanges(database)
const serversIn = ({ database }: Store) => servers(database)
