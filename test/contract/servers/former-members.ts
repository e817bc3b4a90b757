import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { GIVEN_BACK_MAX } from '../../../src/organizations/organization.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, join, NOW, register, tally } from '../people.ts'
import { serversOfFormerMembers } from '../../../src/servers/records/former-members.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** Servers under an organization that their users have left. */
export function formerMembersContract(open: OpenFixture): void {
  test('servers of former members are counted and return to them as personal drafts', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    const hers = await register(store, ada!, { organization_id: id })
    const his = await register(store, bob!, { organization_id: id, slug: 'his', version: '1.21' })
    assert.equal(await recordsOf(store).countServersOfFormerMembers(id), 0)
    assert.equal(await recordsOf(store).giveBackServers(ada!.id, id, OPERATOR), 0)
    await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR)
    assert.equal(await recordsOf(store).countServersOfFormerMembers(id), 1)
    const before = await recordsOf(store).findServer(bob!.id, his)

    assert.equal(await recordsOf(store).giveBackServers(ada!.id, id, OPERATOR), 1)
    assert.equal(await recordsOf(store).countServersOfFormerMembers(id), 0)
    assert.deepEqual(await recordsOf(store).findServer(bob!.id, his), {
      ...before,
      organization_id: null,
      status: 'draft',
    })
    assert.equal((await recordsOf(store).findServer(ada!.id, hers))?.organization_id, id)
    assert.equal(await recordsOf(store).giveBackServers(ada!.id, id, OPERATOR), 0)
  })

  test('servers of former members of other organizations stay', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    for (const organization_id of [id, other]) {
      await join(store, organization_id, ada!, bob!)
      await register(store, bob!, { organization_id })
      await recordsOf(store).removeMember(bob!.id, organization_id, bob!.id, OPERATOR)
    }
    await register(store, bob!)
    assert.equal(await recordsOf(store).countServersOfFormerMembers(id), 1)
    assert.equal(await recordsOf(store).giveBackServers(ada!.id, id, OPERATOR), 1)
    assert.equal(await recordsOf(store).countServersOfFormerMembers(other), 1)
    assert.equal(await recordsOf(store).countServersOfFormerMembers(randomUUID()), 0)
    assert.equal(await recordsOf(store).countServersOfFormerMembers('nothing'), 0)
  })

  test('only an owner can return servers', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    for (const member of [bob!, eve!]) await join(store, id, ada!, member)
    await register(store, bob!, { organization_id: id })
    await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR)
    for (const stranger of [bob!, eve!])
      assert.equal(await recordsOf(store).giveBackServers(stranger.id, id, OPERATOR), null)
    assert.equal(await recordsOf(store).giveBackServers(ada!.id, randomUUID(), OPERATOR), null)
    assert.equal(await recordsOf(store).giveBackServers(ada!.id, 'nothing', OPERATOR), null)
    assert.equal(await recordsOf(store).countServersOfFormerMembers(id), 1)
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
    await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR)
    assert.equal(await recordsOf(store).giveBackServers(ada!.id, id, OPERATOR), 4)
    const slugs = new Map<string, string | null | undefined>()
    for (const [slug, server] of ids)
      slugs.set(slug, (await recordsOf(store).findServer(bob!.id, server))?.slug)
    assert.deepEqual(Object.fromEntries(slugs), {
      taken: null,
      'of-ada': 'of-ada',
      elsewhere: 'elsewhere',
      free: 'free',
    })
  })

  test('of servers given back with one slug the latest keeps it, then the last id', async (t) => {
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
    await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR)
    assert.equal(await recordsOf(store).giveBackServers(ada!.id, id, OPERATOR), 6)
    const slugs: unknown[] = []
    for (const server of [...dated, ...tied])
      slugs.push((await recordsOf(store).findServer(bob!.id, server))?.slug)
    assert.deepEqual(slugs, [null, 'dated', null, null, null, 'tied'])
  })

  test('at most GIVEN_BACK_MAX servers are counted and returned at a time', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    const entries = Array.from({ length: GIVEN_BACK_MAX + 1 }, (_, index) => ({
      name: 'Survival',
      address: `s${index}.example.com`,
    }))
    await recordsOf(store).saveServers(bob!.id, id, entries, operatorAt(NOW))
    await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR)
    assert.equal(await recordsOf(store).countServersOfFormerMembers(id), GIVEN_BACK_MAX)
    assert.equal(await recordsOf(store).giveBackServers(ada!.id, id, OPERATOR), GIVEN_BACK_MAX)
    assert.equal(await recordsOf(store).countServersOfFormerMembers(id), 1)
    assert.equal(await recordsOf(store).giveBackServers(ada!.id, id, OPERATOR), 1)
    const listed = await recordsOf(store).listServers(bob!.id)
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
    await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR)
    const given = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        serversOfFormerMembers((index % 2 === 0 ? store : second).database).giveBackServers(
          ada!.id,
          id,
          OPERATOR,
        ),
      ),
    )
    assert.deepEqual(tally(given), { 5: 1, 0: 5 })
    assert.ok((await recordsOf(store).listServers(bob!.id)).every(({ slug }) => slug !== null))
  })
}
