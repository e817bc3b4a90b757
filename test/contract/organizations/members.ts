import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { User } from '../../../src/accounts/user.ts'
import type { OpenFixture, StoreFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, fields, join, register } from '../people.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

export function membersContract(open: OpenFixture): void {
  test('members list each other by email; a stranger gets an empty list', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'bob', 'ann', 'eve')
    const id = await addOrganization(store, ada!)
    const other = await addOrganization(store, eve!)
    await join(store, id, ada!, bob!)
    const expected = [
      { user_id: bob!.id, email: 'ann@example.com', external_id: null, role: 'member', servers: 0 },
      { user_id: ada!.id, email: 'bob@example.com', external_id: null, role: 'owner', servers: 0 },
    ]
    assert.deepEqual(await recordsOf(store).listMembers(ada!.id, id), expected)
    assert.deepEqual(await recordsOf(store).listMembers(bob!.id, id), expected)
    assert.deepEqual(await recordsOf(store).listMembers(eve!.id, id), [])
    assert.deepEqual(await recordsOf(store).listMembers(ada!.id, other), [])
    assert.deepEqual(await recordsOf(store).listMembers(ada!.id, 'nothing'), [])
  })

  test('owners can remove any member, and members can remove themselves only', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve, joe] = await addUsers(store, 'ada', 'bob', 'eve', 'joe')
    const id = await addOrganization(store, ada!)
    for (const member of [bob!, eve!]) await join(store, id, ada!, member)
    assert.equal(await recordsOf(store).removeMember(bob!.id, id, eve!.id, OPERATOR), false)
    assert.equal(await recordsOf(store).removeMember(joe!.id, id, eve!.id, OPERATOR), false)
    assert.equal(await recordsOf(store).removeMember(ada!.id, id, joe!.id, OPERATOR), false)
    assert.equal(await recordsOf(store).removeMember(joe!.id, id, joe!.id, OPERATOR), false)
    assert.equal(await recordsOf(store).removeMember(ada!.id, 'nothing', bob!.id, OPERATOR), false)
    assert.equal(await recordsOf(store).removeMember(ada!.id, id, 'nothing', OPERATOR), false)
    assert.equal((await recordsOf(store).listMembers(ada!.id, id)).length, 3)

    assert.equal(await recordsOf(store).removeMember(ada!.id, id, bob!.id, OPERATOR), true)
    assert.equal(await recordsOf(store).removeMember(ada!.id, id, bob!.id, OPERATOR), false)
    assert.equal(await recordsOf(store).removeMember(eve!.id, id, eve!.id, OPERATOR), true)
    assert.deepEqual(await emailsOf(store, ada!, id), ['ada@example.com'])
  })

  test('owning one organization gives no rights in another', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    await addOrganization(store, bob!)
    for (const member of [bob!, eve!]) await join(store, id, ada!, member)
    assert.equal(await recordsOf(store).removeMember(bob!.id, id, eve!.id, OPERATOR), false)
    assert.equal(await recordsOf(store).removeMember(bob!.id, id, ada!.id, OPERATOR), false)
    assert.equal(await recordsOf(store).removeOrganization(bob!.id, id, OPERATOR), false)
  })

  test("the list of members counts each one's servers in the organization", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    const other = await addOrganization(store, bob!)
    await join(store, id, ada!, bob!)
    for (const organization_id of [id, id, other, null])
      await register(store, bob!, { organization_id })
    const members = await recordsOf(store).listMembers(ada!.id, id)
    assert.deepEqual(
      members.map(({ servers }) => servers),
      [0, 2],
    )
  })

  test("the last owner can't leave, even if members stay", async (t) => {
    const { store, execute } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    // An owner of another organization does not count.
    await addOrganization(store, bob!)
    await join(store, id, ada!, bob!)
    assert.equal(await recordsOf(store).removeMember(ada!.id, id, ada!.id, OPERATOR), false)
    await execute(`UPDATE members SET role = 'owner' WHERE user_id = '${bob!.id}'`)
    assert.equal(await recordsOf(store).removeMember(ada!.id, id, ada!.id, OPERATOR), true)
    assert.equal(await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR), false)
    assert.deepEqual(await emailsOf(store, bob!, id), ['bob@example.com'])
  })

  test('exactly one of two owners who leave at once can leave', async (t) => {
    const { store, openSecond, execute } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const ids: string[] = []
    for (let round = 0; round < 10; round += 1) {
      const id = await addOrganization(store, ada!)
      await join(store, id, ada!, bob!)
      ids.push(id)
    }
    await execute(`UPDATE members SET role = 'owner'`)
    for (const id of ids) {
      const left = await Promise.all([
        recordsOf(store).removeMember(ada!.id, id, ada!.id, OPERATOR),
        recordsOf(second).removeMember(bob!.id, id, bob!.id, OPERATOR),
      ])
      assert.deepEqual(left.toSorted(), [false, true])
    }
  })

  test('exactly one of two owners who remove each other at once is removed', async (t) => {
    const { store, openSecond, execute } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (let round = 0; round < 10; round += 1) {
      const id = await addOrganization(store, ada!)
      await join(store, id, ada!, bob!)
      await execute(`UPDATE members SET role = 'owner'`)
      const removed = await Promise.all([
        recordsOf(store).removeMember(ada!.id, id, bob!.id, OPERATOR),
        recordsOf(second).removeMember(bob!.id, id, ada!.id, OPERATOR),
      ])
      assert.deepEqual(removed.toSorted(), [false, true])
      const left = removed[0] ? ada! : bob!
      assert.deepEqual(await emailsOf(store, left, id), [left.email])
    }
  })

  test('a member who leaves and comes back is the newest one', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!, NOW + 1)
    await join(store, id, ada!, eve!, NOW + 2)
    await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR)
    await join(store, id, ada!, bob!, NOW + 3)
    await removeUser(store.database, ada!.id, OPERATOR)
    assert.deepEqual(
      (await recordsOf(store).listMembers(eve!.id, id)).map(({ role }) => role),
      ['member', 'owner'],
    )
  })

  test("a member's servers stay when the member leaves", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    const server = await register(store, bob!, { organization_id: id })
    const personal = await register(store, bob!)
    assert.ok(await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR))
    const left = await recordsOf(store).findVisibleServer(ada!.id, server)
    assert.deepEqual([left?.organization_id, left?.created_by], [id, bob!.id])
    assert.equal((await recordsOf(store).findServer(bob!.id, personal))?.organization_id, null)
    assert.equal(await recordsOf(store).findVisibleServer(ada!.id, randomUUID()), null)
  })

  test('only the user who registered a server makes it personal again, also a former member', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    const server = await register(store, bob!, { organization_id: id })
    const take = async (user: User) => {
      const change = { id: randomUUID(), becomes: { organization_id: null }, servers: [server] }
      const made = await recordsOf(store).changeServers(user.id, change, OPERATOR)
      const edited = await recordsOf(store).updateServer(user.id, server, fields(), OPERATOR)
      return ['reason' in made ? made.reason : made.changed.length, edited]
    }
    assert.deepEqual(await take(ada!), ['not found', 'not found'])
    assert.ok(await recordsOf(store).removeMember(ada!.id, id, bob!.id, OPERATOR))
    assert.deepEqual(await take(ada!), ['not found', 'not found'])
    assert.deepEqual(await take(bob!), [1, 'written'])
    assert.equal((await recordsOf(store).findServer(bob!.id, server))?.organization_id, null)
  })
}

async function emailsOf(
  store: StoreFixture['store'],
  user: User,
  id: string,
): Promise<(string | null)[]> {
  return (await recordsOf(store).listMembers(user.id, id)).map(({ email }) => email)
}
