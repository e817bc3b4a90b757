import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { REGISTERED_MAX } from '../../../src/servers/server.ts'
import { CHANGES_MAX, UNDO_US } from '../../../src/servers/bulk-change.ts'
import type { Store } from '../../../src/database/store.ts'
import type { User } from '../../../src/accounts/user.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, fields, join, NOW, register } from '../people.ts'
import { bulkChanges } from '../../../src/servers/records/bulk-changes.ts'
import { servers } from '../../../src/servers/records/servers.ts'
import { serverExports } from '../../../src/servers/records/server-exports.ts'
import { organizations } from '../../../src/organizations/records/organizations.ts'
import { serverImports } from '../../../src/servers/records/server-imports.ts'
import { operatorAt } from '../../../src/model/audit.ts'

/** Changes of several servers, and undoing them. */
export function bulkChangesContract(open: OpenFixture): void {
  test('one change sets the status of several servers and says which changed', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const drafts = [await register(store, ada!, { status: 'draft', name: 'one' }, NOW - 1)]
    drafts.push(await register(store, ada!, { status: 'draft', name: 'two' }, NOW - 2))
    const published = await register(store, ada!, {}, NOW - 3)
    const ofBob = await register(store, bob!, { status: 'draft' })
    const servers = [...drafts, published, ofBob, randomUUID(), 'nothing']
    const id = randomUUID()
    const made = await changesIn(store).changeServers(
      ada!.id,
      { id, status: 'published', servers },
      OPERATOR,
    )
    const changed = [
      { id: drafts[0], name: 'one' },
      { id: drafts[1], name: 'two' },
    ]
    assert.deepEqual(made, { id, status: 'published', changed, restored: null })
    assert.deepEqual(await changesIn(store).findBulkChange(ada!.id, id, NOW), made)
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
    const wanted = { id: randomUUID(), status: null, servers }
    const made = await Promise.all(
      [store, second, store, second].map((one) =>
        bulkChanges(one.database).changeServers(ada!.id, wanted, OPERATOR),
      ),
    )
    for (const one of made) assert.deepEqual(one, made[0])
    assert.equal(made[0]?.changed.length, 2)
    const again = { ...wanted, id: randomUUID() }
    assert.equal(await changesIn(store).changeServers(ada!.id, again, OPERATOR), null)
  })

  test('undoing gives each server its former status and place, and happens once', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const servers = [
      await register(store, ada!, { status: 'draft' }, NOW - 2),
      await register(store, ada!, { status: 'archived' }, NOW - 1),
    ]
    const before = await serverExports(store.database).listServers(ada!.id)
    const id = randomUUID()
    await changesIn(store).changeServers(ada!.id, { id, status: 'published', servers }, OPERATOR)
    assert.equal(await changesIn(store).undoBulkChange(bob!.id, id, OPERATOR), null)
    assert.equal(await changesIn(store).findBulkChange(bob!.id, id, NOW), null)
    assert.equal((await changesIn(store).undoBulkChange(ada!.id, id, OPERATOR))?.restored, 2)
    assert.deepEqual(await serverExports(store.database).listServers(ada!.id), before)
    await serversIn(store).updateServer(
      ada!.id,
      servers[0]!,
      fields({ name: 'later' }),
      operatorAt(NOW + 1),
    )
    assert.equal(
      (await changesIn(store).undoBulkChange(ada!.id, id, operatorAt(NOW + 1)))?.restored,
      2,
    )
    assert.equal((await serversIn(store).findServer(ada!.id, servers[0]!))?.name, 'later')
  })

  test('undoing leaves a server that has changed since', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const servers = [await register(store, ada!), await register(store, ada!)]
    const removed = await register(store, ada!)
    const id = randomUUID()
    const wanted = { id, status: 'draft', servers: [...servers, removed] }
    await changesIn(store).changeServers(ada!.id, wanted, operatorAt(NOW + 1))
    const edited = fields({ status: 'draft', name: 'edited' })
    await serversIn(store).updateServer(ada!.id, servers[0]!, edited, operatorAt(NOW + 2))
    await removeServers(store, ada!, [removed])
    assert.equal(
      (await changesIn(store).undoBulkChange(ada!.id, id, operatorAt(NOW + 2)))?.restored,
      1,
    )
    const found = await serversIn(store).findServer(ada!.id, servers[0]!)
    assert.deepEqual([found?.name, found?.status], ['edited', 'draft'])
    assert.equal((await serversIn(store).findServer(ada!.id, servers[1]!))?.status, 'published')
  })

  test('a change can be undone for UNDO_US, and a user keeps the latest CHANGES_MAX', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const servers = [await register(store, ada!)]
    const ids = Array.from({ length: CHANGES_MAX + 1 }, () => randomUUID())
    for (const [index, id] of ids.entries()) {
      const status = index % 2 === 0 ? 'draft' : 'published'
      await changesIn(store).changeServers(
        ada!.id,
        { id, status, servers },
        operatorAt(NOW + index),
      )
    }
    assert.equal(await changesIn(store).findBulkChange(ada!.id, ids[0]!, NOW + 30), null)
    assert.notEqual(await changesIn(store).findBulkChange(ada!.id, ids[1]!, NOW + 30), null)
    const last = ids.at(-1)!
    const until = NOW + CHANGES_MAX + UNDO_US
    assert.equal(await changesIn(store).undoBulkChange(ada!.id, last, operatorAt(until)), null)
    assert.notEqual(await changesIn(store).findBulkChange(ada!.id, last, until - 1), null)
    const again = { id: last, status: 'published', servers }
    assert.equal(
      (await changesIn(store).changeServers(ada!.id, again, operatorAt(until)))?.changed.length,
      1,
    )
  })

  removalsContract(open)
}

function removalsContract(open: OpenFixture): void {
  test('undoing a deletion restores servers with their ids, values and places', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const organization_id = await addOrganization(store, ada!)
    const full = { slug: 'one', version: '1.21', listing_kind: 'realm', status: 'archived' }
    const servers = [
      await register(store, ada!, full, NOW - 5),
      await register(store, ada!, { ...full, organization_id }, NOW - 6),
      await register(store, ada!, {}, NOW - 7),
    ]
    const before = await serverExports(store.database).listServers(ada!.id)
    const id = await removeServers(store, ada!, servers)
    assert.deepEqual(await serverExports(store.database).listServers(ada!.id), [])
    const undone = await changesIn(store).undoBulkChange(ada!.id, id, OPERATOR)
    assert.deepEqual([undone?.status, undone?.restored], [null, 3])
    assert.deepEqual(await serverExports(store.database).listServers(ada!.id), before)
  })

  test('a deleted server stays deleted if its slug or its organization is gone', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await join(store, organization_id, ada!, bob!)
    const [taken, free] = ['taken', 'free'] as const
    const servers = [
      await register(store, bob!, { slug: taken }),
      await register(store, bob!, { slug: free }),
      await register(store, bob!, { slug: taken, organization_id }),
    ]
    const id = await removeServers(store, bob!, servers)
    await register(store, bob!, { slug: taken })
    await organizations(store.database).removeMember(bob!.id, organization_id, bob!.id, OPERATOR)
    assert.equal((await changesIn(store).undoBulkChange(bob!.id, id, OPERATOR))?.restored, 1)
    const slugs = (await serverExports(store.database).listServers(bob!.id)).map(({ slug }) => slug)
    assert.deepEqual(new Set(slugs), new Set([free, taken]))
    assert.equal(slugs.length, 2)
  })

  test('undoing a deletion keeps to REGISTERED_MAX', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const servers = [await register(store, ada!), await register(store, ada!)]
    const id = await removeServers(store, ada!, servers)
    const entries = Array.from({ length: REGISTERED_MAX - 1 }, (_, index) => ({
      name: 'imported',
      address: `s${index}.example.com`,
    }))
    await serverImports(store.database).saveServers(ada!.id, null, entries, OPERATOR)
    assert.equal((await changesIn(store).undoBulkChange(ada!.id, id, OPERATOR))?.restored, 1)
    assert.equal((await serverExports(store.database).listServers(ada!.id)).length, REGISTERED_MAX)
  })

  test('a former member can delete a server under the organization, but not change it', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await join(store, organization_id, ada!, bob!)
    const servers = [await register(store, bob!, { organization_id })]
    await organizations(store.database).removeMember(bob!.id, organization_id, bob!.id, OPERATOR)
    const draft = { id: randomUUID(), status: 'draft', servers }
    assert.equal(await changesIn(store).changeServers(bob!.id, draft, OPERATOR), null)
    await removeServers(store, bob!, servers)
    assert.deepEqual(await serverExports(store.database).listServers(bob!.id), [])
  })

  test('a former member cannot undo a change of a server under the organization', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await join(store, organization_id, ada!, bob!)
    const servers = [await register(store, bob!, { organization_id }), await register(store, bob!)]
    const id = randomUUID()
    await changesIn(store).changeServers(
      bob!.id,
      { id, status: 'draft', servers },
      operatorAt(NOW + 1),
    )
    await organizations(store.database).removeMember(bob!.id, organization_id, bob!.id, OPERATOR)
    assert.equal(
      (await changesIn(store).undoBulkChange(bob!.id, id, operatorAt(NOW + 2)))?.restored,
      1,
    )
    assert.equal((await serversIn(store).findServer(bob!.id, servers[0]!))?.status, 'draft')
    assert.equal((await serversIn(store).findServer(bob!.id, servers[1]!))?.status, 'published')
  })
}

/** Deletes these servers and returns the id of the change. */
async function removeServers(store: Store, user: User, servers: string[]): Promise<string> {
  const id = randomUUID()
  const made = await changesIn(store).changeServers(
    user.id,
    { id, status: null, servers },
    OPERATOR,
  )
  assert.equal(made?.changed.length, servers.length)
  return id
}

const changesIn = ({ database }: Store) => bulkChanges(database)
const serversIn = ({ database }: Store) => servers(database)
