import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, join, register } from '../people.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { rolesIn } from './removed-users.ts'
import { NOW } from '../../fixtures/clock.ts'

/** What becomes of an organization and its servers when a user is removed. */
export function keptServersContract(open: OpenFixture): void {
  test("an organization's servers go to its oldest owner, with their values", async (t) => {
    const { store, execute } = await open(t)
    const [ada, bob, eve, joe] = await addUsers(store, 'ada', 'bob', 'eve', 'joe')
    const id = await addOrganization(store, ada!, {}, NOW - 9)
    await join(store, id, ada!, bob!, NOW + 1)
    await join(store, id, ada!, eve!, NOW + 3)
    await join(store, id, ada!, joe!, NOW + 2)
    await execute(`UPDATE members SET role = 'owner' WHERE user_id IN ('${eve!.id}', '${joe!.id}')`)
    const server = await register(store, ada!, { organization_id: id, slug: 'hers' }, NOW - 5)
    const before = await recordsOf(store).findServer(ada!.id, server)
    const listed = await recordsOf(store).listServers(joe!.id)
    await removeUser(store.database, ada!.id, OPERATOR)
    assert.deepEqual(await recordsOf(store).findServer(joe!.id, server), {
      ...before,
      created_by: joe!.id,
    })
    assert.equal((await recordsOf(store).listServers(joe!.id)).length, listed.length + 1)
  })

  test('without another owner they go to the member who becomes it', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!, NOW + 2)
    await join(store, id, ada!, eve!, NOW + 1)
    const server = await register(store, ada!, { organization_id: id })
    await removeUser(store.database, ada!.id, OPERATOR)
    assert.equal((await recordsOf(store).findServer(eve!.id, server))?.organization_id, id)
    assert.deepEqual(await rolesIn(store, eve!.id, id), ['member', 'owner'])
  })

  test('a server of a former member goes to the oldest owner, too', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    const server = await register(store, bob!, { organization_id: id })
    await recordsOf(store).removeMember(ada!.id, id, bob!.id, OPERATOR)
    await removeUser(store.database, bob!.id, OPERATOR)
    assert.equal((await recordsOf(store).findServer(ada!.id, server))?.organization_id, id)
    assert.deepEqual(await rolesIn(store, ada!.id, id), ['owner'])
  })

  test('a slug that the owner has in the organization already is dropped', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, bob!)]
    await join(store, id, ada!, bob!)
    await register(store, ada!, { organization_id: id, slug: 'taken' })
    await register(store, ada!, { slug: 'personal' })
    await join(store, other, bob!, ada!)
    const ids = new Map<string, string>()
    for (const slug of ['taken', 'personal', 'free'])
      ids.set(slug, await register(store, bob!, { organization_id: id, slug }))
    const same = await register(store, bob!, { organization_id: other, slug: 'taken' })
    await removeUser(store.database, bob!.id, OPERATOR)
    const slugOf = async (server: string) =>
      (await recordsOf(store).findServer(ada!.id, server))?.slug
    const slugs: unknown[] = []
    for (const server of [...ids.values(), same]) slugs.push(await slugOf(server))
    assert.deepEqual(slugs, [null, 'personal', 'free', 'taken'])
  })

  test('both owners of an organization are removed at once, and its servers go', async (t) => {
    const { store, openSecond, execute } = await open(t)
    const second = await openSecond()
    for (let round = 0; round < 10; round += 1) {
      const [ada, bob] = await addUsers(store, `ada${round}`, `bob${round}`)
      const id = await addOrganization(store, ada!)
      await join(store, id, ada!, bob!)
      await execute(`UPDATE members SET role = 'owner'`)
      const servers = [
        await register(store, ada!, { organization_id: id }),
        await register(store, bob!, { organization_id: id }),
      ]
      const removed = await Promise.all([
        removeUser(store.database, ada!.id, OPERATOR),
        removeUser(second.database, bob!.id, OPERATOR),
      ])
      assert.deepEqual(removed, [true, true])
      for (const [index, user] of [ada!, bob!].entries())
        assert.equal(await recordsOf(store).findServer(user.id, servers[index]!), null)
      assert.deepEqual(await recordsOf(store).listOrganizations(bob!.id), [])
    }
  })

  aloneContract(open)
}

function aloneContract(open: OpenFixture): void {
  test('an organization without members goes; former members keep their servers as drafts', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!, { slug: 'guild' })
    const kept = await addOrganization(store, bob!)
    await join(store, id, ada!, bob!)
    await join(store, kept, bob!, ada!)
    const hers = await register(store, ada!, { organization_id: id })
    const his = await register(store, bob!, { organization_id: id, slug: 'his' })
    const elsewhere = await register(store, bob!, { organization_id: kept })
    await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR)

    await removeUser(store.database, ada!.id, OPERATOR)
    const back = await recordsOf(store).findServer(bob!.id, his)
    assert.deepEqual([back?.organization_id, back?.status, back?.slug], [null, 'draft', null])
    assert.equal((await recordsOf(store).findServer(bob!.id, elsewhere))?.organization_id, kept)
    assert.equal(await recordsOf(store).findServer(bob!.id, hers), null)
    await addOrganization(store, bob!, { slug: 'guild' })
  })

  test('a user who is added while the only owner is removed owns it or finds nothing', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [bob] = await addUsers(store, 'bob')
    for (let round = 0; round < 10; round += 1) {
      const [ada] = await addUsers(store, `ada${round}`)
      const id = await addOrganization(store, ada!)
      const [removed, joined] = await Promise.all([
        removeUser(store.database, ada!.id, OPERATOR),
        recordsOf(second).addMember(ada!.id, id, bob!.email, OPERATOR),
      ])
      assert.equal(removed, true)
      const roles = await rolesIn(store, bob!.id, id)
      assert.deepEqual(roles, joined === 'added' ? ['owner'] : [])
      if (joined === 'added') await recordsOf(store).removeOrganization(bob!.id, id, OPERATOR)
    }
  })
}
