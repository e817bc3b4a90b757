import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { addOwner, issueKey, listUsers } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import {
  OPERATOR,
  addOrganization,
  addUsers,
  fields,
  join,
  register,
  rename,
  tally,
} from '../people.ts'
import { claim } from '../keys/claim.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** What is removed with a user, and what stays. */
export function removedUsersContract(open: OpenFixture): void {
  test("a user's keys, personal servers and memberships go with the user", async (t) => {
    const { store } = await open(t)
    const { user: ada, key } = await addOwner(store, 'ada@example.com', [
      { name: 'Hers', address: 'a.example.com' },
    ])
    const bob = await addOwner(store, 'bob@example.com', [
      { name: 'His', address: 'b.example.com' },
    ])
    const id = await addOrganization(store, bob.user)
    await join(store, id, bob.user, ada)
    await register(store, ada, { organization_id: id })
    await register(store, bob.user, { organization_id: id })
    const own = await addOrganization(store, ada)
    const alone = await register(store, ada, { organization_id: own })
    const { id: revoked } = await issueKey(store, ada)
    await recordsOf(store).revokeApiKey(ada.id, revoked, OPERATOR)

    const counts = {
      api_keys: 1,
      servers: 2,
      kept_servers: 1,
      organizations: 1,
      returned_servers: 0,
      inherited_organizations: 0,
    }
    assert.deepEqual({ ...(await recordsOf(store).countBelongings(ada.id)) }, counts)
    assert.equal(await removeUser(store.database, ada.id, OPERATOR), true)
    assert.equal(await recordsOf(store).findUser('ada@example.com'), null)
    assert.deepEqual(await recordsOf(store).listApiKeys(ada.id), [])
    assert.deepEqual(await recordsOf(store).listServers(ada.id), [])
    assert.deepEqual(await recordsOf(store).listOrganizations(ada.id), [])
    assert.deepEqual(await claim(store, key), { outcome: 'unknown' })
    assert.equal((await claim(store, bob.key)).outcome, 'granted')
    assert.equal(await recordsOf(store).findServer(ada.id, alone), null)
    assert.equal((await recordsOf(store).listServers(bob.user.id)).length, 3)
    const [left] = await recordsOf(store).listOrganizations(bob.user.id)
    assert.deepEqual([left?.id, left?.servers], [id, 2])
    assert.equal((await recordsOf(store).listMembers(bob.user.id, id)).length, 1)
  })

  test('the counts of a user name what others get of it', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const count = async (user: { id: string }) => {
      const counted = await recordsOf(store).countBelongings(user.id)
      const { servers, kept_servers, organizations } = counted
      const { returned_servers, inherited_organizations } = counted
      return [servers, kept_servers, organizations, returned_servers, inherited_organizations]
    }
    // Eve has left a server in the organization that Ada is alone in.
    const alone = await addOrganization(store, ada!)
    await join(store, alone, ada!, eve!)
    await register(store, eve!, { organization_id: alone })
    await register(store, ada!, { organization_id: alone })
    assert.deepEqual(await count(ada!), [0, 1, 0, 0, 1])
    await recordsOf(store).removeMember(ada!.id, alone, eve!.id, OPERATOR)
    assert.deepEqual(await count(ada!), [1, 0, 1, 1, 0])
    // A former member's servers stay, too.
    assert.deepEqual(await count(eve!), [0, 1, 0, 0, 0])
    const shared = await addOrganization(store, ada!)
    await join(store, shared, ada!, bob!)
    assert.deepEqual(await count(ada!), [1, 0, 1, 1, 1])
    assert.deepEqual(await count(bob!), [0, 0, 0, 0, 0])

    await removeUser(store.database, ada!.id, OPERATOR)
    const [own] = await recordsOf(store).listServers(eve!.id)
    assert.deepEqual([own?.organization, own?.status], [null, 'draft'])
    const [member] = await recordsOf(store).listMembers(bob!.id, shared)
    assert.equal(member?.role, 'owner')
  })

  test('removing an unknown user removes no user', async (t) => {
    const { store } = await open(t)
    const listed = await addUsers(store, 'ada', 'bob')
    assert.equal(await removeUser(store.database, randomUUID(), OPERATOR), false)
    assert.equal(await removeUser(store.database, 'ada@example.com', OPERATOR), false)
    assert.deepEqual(await listUsers(store), listed)
  })

  test('the new user of an address stays when its former user is removed', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await rename(store, ada!, 'moved@example.com')
    const successor = await addOwner(store, 'ada@example.com')
    assert.equal(await removeUser(store.database, ada!.id, OPERATOR), true)
    assert.deepEqual(await listUsers(store), [successor.user])
    assert.equal((await claim(store, successor.key)).outcome, 'granted')
  })

  test('exactly one of four callers that remove one user succeeds', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const { user } = await addOwner(store, 'ada@example.com', [
      { name: 'a', address: 'a.example.com' },
    ])
    const removed = await Promise.all(
      [store, second, store, second].map((one) => removeUser(one.database, user.id, OPERATOR)),
    )
    assert.deepEqual(tally(removed), { true: 1, false: 3 })
  })

  test('a removed user who signs up again starts empty', async (t) => {
    const { store } = await open(t)
    const { user } = await addOwner(store, 'ada@example.com', [{ name: 'a', address: 'a.example' }])
    const { key } = await issueKey(store, user, 'second')
    await removeUser(store.database, user.id, OPERATOR)
    const again = await addOwner(store, user.email)
    assert.equal((await recordsOf(store).listApiKeys(again.user.id)).length, 1)
    assert.deepEqual(await recordsOf(store).listServers(again.user.id), [])
    assert.equal((await claim(store, key)).outcome, 'unknown')
    assert.equal((await claim(store, again.key)).outcome, 'granted')
  })

  test('a server registered while its user is removed does not stay', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    for (let round = 0; round < 10; round += 1) {
      const [ada] = await addUsers(store, `ada${round}`)
      const id = randomUUID()
      const [removed] = await Promise.allSettled([
        removeUser(store.database, ada!.id, OPERATOR),
        recordsOf(second).insertServer(ada!.id, id, fields(), operatorAt(NOW)),
      ])
      assert.deepEqual(removed, { status: 'fulfilled', value: true })
      assert.equal(await recordsOf(store).findServer(ada!.id, id), null)
      assert.deepEqual(await recordsOf(store).listServers(ada!.id), [])
    }
  })

  heirsContract(open)
}

function heirsContract(open: OpenFixture): void {
  test('the oldest member becomes the owner of an organization without one', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve, joe] = await addUsers(store, 'ada', 'bob', 'eve', 'joe')
    const id = await addOrganization(store, ada!, {}, NOW - 9)
    await join(store, id, ada!, bob!, NOW + 2)
    await join(store, id, ada!, eve!, NOW + 1)
    await join(store, id, ada!, joe!, NOW + 3)
    await register(store, bob!, { organization_id: id })
    await removeUser(store.database, ada!.id, OPERATOR)
    assert.deepEqual(await rolesIn(store, bob!.id, id), ['member', 'owner', 'member'])
    assert.equal((await recordsOf(store).listOrganizations(bob!.id))[0]?.servers, 1)
  })

  test('if members joined at one instant, the one with the first id inherits', async (t) => {
    const { store } = await open(t)
    const [ada, ...others] = await addUsers(store, 'ada', 'bob', 'eve', 'joe')
    const id = await addOrganization(store, ada!)
    for (const member of others) await join(store, id, ada!, member)
    await removeUser(store.database, ada!.id, OPERATOR)
    const [first] = others.map((user) => user.id).toSorted()
    const owners = (await recordsOf(store).listMembers(first!, id)).filter(
      ({ role }) => role === 'owner',
    )
    assert.deepEqual(
      owners.map(({ user_id }) => user_id),
      [first],
    )
  })

  test('removing a user changes no role where another owner is left', async (t) => {
    const { store, execute } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, bob!)]
    await join(store, id, ada!, bob!)
    await join(store, id, ada!, eve!)
    for (const member of [ada!, eve!]) await join(store, other, bob!, member)
    await execute(
      `UPDATE members SET role = 'owner' WHERE organization_id = '${id}' AND user_id = '${eve!.id}'`,
    )
    await removeUser(store.database, ada!.id, OPERATOR)
    assert.deepEqual(await rolesIn(store, bob!.id, id), ['member', 'owner'])
    assert.deepEqual(await rolesIn(store, bob!.id, other), ['owner', 'member'])
  })
}

export async function rolesIn(
  store: Awaited<ReturnType<OpenFixture>>['store'],
  userId: string,
  id: string,
): Promise<string[]> {
  return (await recordsOf(store).listMembers(userId, id)).map(({ role }) => role)
}
