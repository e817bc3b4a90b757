import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { RETURNED_MAX } from '../../../src/listing/organization.ts'
import type { OpenFixture } from '../fixture.ts'
import { addOrganization, addUsers, join, NOW, register, tally } from '../people.ts'

/** Servers under an organization that their users have left. */
export function leftServersContract(open: OpenFixture): void {
  test('servers of former members are counted and return to them as personal drafts', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    const hers = await register(store, ada!, { organization_id: id })
    const his = await register(store, bob!, { organization_id: id, slug: 'his', version: '1.21' })
    assert.equal(await store.countServersOfFormerMembers(id), 0)
    assert.equal(await store.returnServers(ada!.id, id), 0)
    await store.removeMember(bob!.id, id, bob!.id)
    assert.equal(await store.countServersOfFormerMembers(id), 1)
    const before = await store.findServer(bob!.id, his)

    assert.equal(await store.returnServers(ada!.id, id), 1)
    assert.equal(await store.countServersOfFormerMembers(id), 0)
    assert.deepEqual(await store.findServer(bob!.id, his), {
      ...before,
      organization_id: null,
      status: 'draft',
    })
    assert.equal((await store.findServer(ada!.id, hers))?.organization_id, id)
    assert.equal(await store.returnServers(ada!.id, id), 0)
  })

  test('servers of former members of other organizations stay', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    for (const organization_id of [id, other]) {
      await join(store, organization_id, ada!, bob!)
      await register(store, bob!, { organization_id })
      await store.removeMember(bob!.id, organization_id, bob!.id)
    }
    await register(store, bob!)
    assert.equal(await store.countServersOfFormerMembers(id), 1)
    assert.equal(await store.returnServers(ada!.id, id), 1)
    assert.equal(await store.countServersOfFormerMembers(other), 1)
    assert.equal(await store.countServersOfFormerMembers(randomUUID()), 0)
    assert.equal(await store.countServersOfFormerMembers('nothing'), 0)
  })

  test('only an owner can return servers', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    for (const member of [bob!, eve!]) await join(store, id, ada!, member)
    await register(store, bob!, { organization_id: id })
    await store.removeMember(bob!.id, id, bob!.id)
    for (const stranger of [bob!, eve!])
      assert.equal(await store.returnServers(stranger.id, id), null)
    assert.equal(await store.returnServers(ada!.id, randomUUID()), null)
    assert.equal(await store.returnServers(ada!.id, 'nothing'), null)
    assert.equal(await store.countServersOfFormerMembers(id), 1)
  })

  test("a returned server loses a slug that its user's personal servers have", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    const elsewhere = await addOrganization(store, bob!)
    await register(store, bob!, { slug: 'taken' })
    await register(store, ada!, { slug: 'of-ada' })
    await register(store, bob!, { slug: 'elsewhere', organization_id: elsewhere })
    const ids = new Map<string, string>()
    for (const slug of ['taken', 'of-ada', 'elsewhere', 'free'])
      ids.set(slug, await register(store, bob!, { slug, organization_id: id }))
    await store.removeMember(bob!.id, id, bob!.id)
    assert.equal(await store.returnServers(ada!.id, id), 4)
    const slugs = new Map<string, string | null | undefined>()
    for (const [slug, server] of ids)
      slugs.set(slug, (await store.findServer(bob!.id, server))?.slug)
    assert.deepEqual(Object.fromEntries(slugs), {
      taken: null,
      'of-ada': 'of-ada',
      elsewhere: 'elsewhere',
      free: 'free',
    })
  })

  test('of returned servers with one slug the latest keeps it, then the last id', async (t) => {
    const { store, execute } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    /** Another program gives all of these servers one slug. */
    const add = async (slug: string, ...instants: number[]) => {
      const ids: string[] = []
      for (const instant of instants)
        ids.push(await register(store, bob!, { organization_id: id }, instant))
      await execute(`UPDATE servers SET slug = '${slug}' WHERE id IN ('${ids.join(`', '`)}')`)
      return ids
    }
    const dated = await add('dated', NOW, NOW + 2, NOW + 1)
    const tied = (await add('tied', NOW, NOW, NOW)).toSorted()
    await store.removeMember(bob!.id, id, bob!.id)
    assert.equal(await store.returnServers(ada!.id, id), 6)
    const slugs: unknown[] = []
    for (const server of [...dated, ...tied])
      slugs.push((await store.findServer(bob!.id, server))?.slug)
    assert.deepEqual(slugs, [null, 'dated', null, null, null, 'tied'])
  })

  test('at most RETURNED_MAX servers are counted and returned at a time', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    const entries = Array.from({ length: RETURNED_MAX + 1 }, (_, index) => ({
      name: 'Survival',
      address: `s${index}.example.com`,
    }))
    await store.saveServers(bob!.id, id, entries, NOW)
    await store.removeMember(bob!.id, id, bob!.id)
    assert.equal(await store.countServersOfFormerMembers(id), RETURNED_MAX)
    assert.equal(await store.returnServers(ada!.id, id), RETURNED_MAX)
    assert.equal(await store.countServersOfFormerMembers(id), 1)
    assert.equal(await store.returnServers(ada!.id, id), 1)
    const listed = await store.listServers(bob!.id)
    assert.ok(
      listed.every(({ organization, status }) => organization === null && status === 'draft'),
    )
  })

  test('a server is returned once, however many callers try at once', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    for (let index = 0; index < 5; index += 1)
      await register(store, bob!, { organization_id: id, slug: `server-${index}` })
    await store.removeMember(bob!.id, id, bob!.id)
    const given = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        (index % 2 === 0 ? store : second).returnServers(ada!.id, id),
      ),
    )
    assert.deepEqual(tally(given), { 5: 1, 0: 5 })
    assert.ok((await store.listServers(bob!.id)).every(({ slug }) => slug !== null))
  })
}
