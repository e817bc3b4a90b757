import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createUser, type User } from '../../../src/accounts/user.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { MEMBERS_MAX, ORGANIZATIONS_MAX } from '../../../src/organizations/organization.ts'
import type { Store } from '../../../src/database/store.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf, setBanned } from '../../fixtures/records.ts'
import type { OpenFixture } from '../fixture.ts'
import { addOrganization, addUsers, join, OPERATOR, register, rename, tally } from '../people.ts'
import { NOW } from '../../fixtures/clock.ts'

/** An owner adds the account that has an address. */
export function addingContract(open: OpenFixture): void {
  test('a member is added at once, and no personal server changes', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    const server = await register(store, bob!)
    const before = await recordsOf(store).findServer(bob!.id, server)
    assert.equal(await add(store, ada!, id, 'bob@example.com'), 'added')
    assert.deepEqual(await recordsOf(store).findServer(bob!.id, server), before)
    const [joined] = await recordsOf(store).listOrganizations(bob!.id)
    assert.deepEqual([joined?.id, joined?.role], [id, 'member'])
    assert.equal(await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR), true)
    assert.deepEqual(await recordsOf(store).findServer(bob!.id, server), before)
    assert.deepEqual(await recordsOf(store).listOrganizations(bob!.id), [])
  })

  test("the owner's entry has the owner's address, and the member's entry has none", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    const actor = { address: '192.0.2.1', at: NOW + 1 }
    await recordsOf(store).addMember(ada!.id, id, bob!.email, actor)
    const entries: unknown[] = []
    for (const { id: user } of [ada!, bob!]) {
      const [latest] = await recordsOf(store).listEvents(user, 1)
      entries.push([latest?.action, latest?.subject, latest?.address])
    }
    assert.deepEqual(entries, [
      ['member added by owner', bob!.id, '192.0.2.1'],
      ['member added', id, 'organization page'],
    ])
  })

  test('only an owner adds, and others learn nothing about the address', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    await addOrganization(store, bob!)
    await join(store, id, ada!, bob!)
    for (const email of ['eve@example.com', 'joe@example.com', 'ada@example.com']) {
      for (const stranger of [bob!, eve!])
        assert.equal(await add(store, stranger, id, email), 'not found')
      for (const nothing of [randomUUID(), 'nothing'])
        assert.equal(await add(store, ada!, nothing, email), 'not found')
    }
    for (const member of [ada!, bob!])
      assert.equal(await add(store, ada!, id, member.email), 'member')
    assert.equal((await recordsOf(store).listMembers(ada!.id, id)).length, 2)
  })

  test('an address without an active account adds no member', async (t) => {
    const { store } = await open(t)
    const [ada, bob, cem, eve] = await addUsers(store, 'ada', 'bob', 'cem', 'eve')
    const id = await addOrganization(store, ada!)
    await rename(store, bob!, 'moved@example.com')
    await setBanned(store, cem!.id, NOW)
    await recordsOf(store).setDisabled(eve!.id, true, OPERATOR)
    await recordsOf(store).insertUser(createUser(null, 'player'), OPERATOR)
    for (const email of [bob!.email, cem!.email, eve!.email, 'joe@example.com', 'player', ''])
      assert.equal(await add(store, ada!, id, email), 'no account')
    assert.equal((await recordsOf(store).listMembers(ada!.id, id)).length, 1)
    await recordsOf(store).setDisabled(eve!.id, false, OPERATOR)
    assert.equal(await add(store, ada!, id, eve!.email), 'added')
    assert.equal(await add(store, ada!, id, 'moved@example.com'), 'added')
  })

  limitsContract(open)
  meetingsContract(open)
}

function limitsContract(open: OpenFixture): void {
  test('an organization has at most MEMBERS_MAX members, also at once', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const names = Array.from({ length: MEMBERS_MAX + 2 }, (_, index) => `u${index}`)
    const [ada, ...others] = await addUsers(store, ...names)
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    const added = await Promise.all(
      others.map(({ email }, index) => add(index % 2 === 0 ? store : second, ada!, id, email)),
    )
    assert.deepEqual(tally(added), { added: MEMBERS_MAX - 1, full: 2 })
    assert.equal((await recordsOf(store).listMembers(ada!.id, id)).length, MEMBERS_MAX)
    const left = others[added.indexOf('full')]!
    assert.equal(await add(store, ada!, id, others[added.indexOf('added')]!.email), 'member')
    assert.equal(await add(store, ada!, other, left.email), 'added')
  })

  test('a user comes into at most ORGANIZATIONS_MAX organizations, also at once', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (let index = 1; index < ORGANIZATIONS_MAX; index += 1) await addOrganization(store, bob!)
    const ids: string[] = []
    for (let index = 0; index < 6; index += 1) ids.push(await addOrganization(store, ada!))
    const added = await Promise.all(
      ids.map((id, index) => add(index % 2 === 0 ? store : second, ada!, id, bob!.email)),
    )
    assert.deepEqual(tally(added), { added: 1, 'too many': 5 })
    assert.equal((await recordsOf(store).listOrganizations(bob!.id)).length, ORGANIZATIONS_MAX)
    assert.equal(await add(store, ada!, ids[added.indexOf('added')]!, bob!.email), 'member')
  })
}

function meetingsContract(open: OpenFixture): void {
  test('adding one account four times at once adds it once', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (let round = 0; round < 5; round += 1) {
      const id = await addOrganization(store, ada!)
      const added = await Promise.all(
        [store, second, store, second].map((one) => add(one, ada!, id, bob!.email)),
      )
      assert.deepEqual(tally(added), { added: 1, member: 3 })
    }
  })

  test('an account that is removed or disabled while it is added stays no member alone', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    const id = await addOrganization(store, ada!)
    for (let round = 0; round < 10; round += 1) {
      const [bob] = await addUsers(store, `bob${round}`)
      const removal = round % 2 === 0
      const [added] = await Promise.all([
        add(second, ada!, id, bob!.email),
        removal
          ? removeUser(store.database, bob!.id, OPERATOR)
          : recordsOf(store).setDisabled(bob!.id, true, OPERATOR),
      ])
      assert.ok(['added', 'no account'].includes(added))
      const members = await recordsOf(store).listMembers(ada!.id, id)
      const isMember = members.some(({ user_id }) => user_id === bob!.id)
      assert.equal(isMember, !removal && added === 'added')
      if (isMember) await recordsOf(store).removeMember(ada!.id, id, bob!.id, OPERATOR)
    }
  })
}

function add(store: Pick<Store, 'database'>, owner: User, id: string, email: string) {
  return recordsOf(store).addMember(owner.id, id, email, operatorAt(NOW))
}
