import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { INVITATIONS_SHOWN, MEMBERS_MAX } from '../../../src/organizations/invitation.ts'
import { addUser } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, join, NOW } from '../people.ts'
import { invitations } from '../../../src/organizations/records/invitations.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** An owner invites, lists and withdraws. */
export function invitingContract(open: OpenFixture): void {
  test('an owner lists invitations by address, each with its instant', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    await join(store, id, ada!, bob!)
    const invited = ['éve@example.com', 'eve@example.com', 'Eve@example.com']
    for (const [index, email] of invited.entries())
      assert.equal(
        await recordsOf(store).invite(ada!.id, id, email, 0, operatorAt(NOW + index)),
        'invited',
      )
    await recordsOf(store).invite(ada!.id, other, 'joe@example.com', 0, OPERATOR)
    const listed = await recordsOf(store).listInvited(ada!.id, id, 0)
    assert.deepEqual(
      listed.map(({ email, invited_at }) => [email, invited_at]),
      [
        ['Eve@example.com', NOW + 2],
        ['eve@example.com', NOW + 1],
        ['éve@example.com', NOW],
      ],
    )
    assert.equal(new Set(listed.map((one) => one.id)).size, 3)
    for (const [userId, organizationId] of [
      [bob!.id, id],
      [ada!.id, randomUUID()],
      [ada!.id, 'nothing'],
    ] as const)
      assert.deepEqual(await recordsOf(store).listInvited(userId, organizationId, 0), [])
  })

  test('only an owner can invite, and only users who are not members', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    await addOrganization(store, bob!)
    await join(store, id, ada!, bob!)
    for (const stranger of [bob!, eve!])
      assert.equal(
        await recordsOf(store).invite(stranger.id, id, 'joe@example.com', 0, OPERATOR),
        'not found',
      )
    for (const nothing of [randomUUID(), 'nothing'])
      assert.equal(
        await recordsOf(store).invite(ada!.id, nothing, 'joe@example.com', 0, OPERATOR),
        'not found',
      )
    for (const member of [ada!, bob!])
      assert.equal(await recordsOf(store).invite(ada!.id, id, member.email, 0, OPERATOR), 'member')
    assert.deepEqual(await recordsOf(store).listInvited(ada!.id, id, 0), [])
    assert.equal(await recordsOf(store).invite(ada!.id, id, eve!.email, 0, OPERATOR), 'invited')
  })

  test('a second invitation of one address replaces the first', async (t) => {
    const { store, execute } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    await execute(`UPDATE members SET role = 'owner'`)
    await recordsOf(store).invite(ada!.id, id, eve!.email, 0, OPERATOR)
    await recordsOf(store).invite(bob!.id, id, eve!.email, 0, operatorAt(NOW + 5))
    const listed = await recordsOf(store).listInvited(ada!.id, id, 0)
    assert.deepEqual(
      listed.map(({ invited_at }) => invited_at),
      [NOW + 5],
    )
    const [invitation] = await recordsOf(store).listInvitations(eve!.id, 0)
    assert.equal(invitation?.invited_by, 'bob@example.com')
  })

  test('an invitation from before `since` is not listed; the next one deletes it', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    await recordsOf(store).invite(ada!.id, id, 'old@example.com', 0, operatorAt(NOW - 1))
    await recordsOf(store).invite(ada!.id, id, 'new@example.com', 0, OPERATOR)
    await recordsOf(store).invite(ada!.id, other, 'old@example.com', 0, operatorAt(NOW - 1))
    const emails = async (organization: string, since: number) =>
      (await recordsOf(store).listInvited(ada!.id, organization, since)).map(({ email }) => email)
    assert.deepEqual(await emails(id, NOW), ['new@example.com'])
    assert.deepEqual(await emails(id, NOW - 1), ['new@example.com', 'old@example.com'])
    await recordsOf(store).invite(ada!.id, id, 'third@example.com', NOW, OPERATOR)
    assert.deepEqual(await emails(id, 0), ['new@example.com', 'third@example.com'])
    assert.deepEqual(await emails(other, 0), ['old@example.com'])
  })

  test('only an owner of the organization can withdraw an invitation', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    const other = await addOrganization(store, eve!)
    await join(store, id, ada!, bob!)
    for (const email of ['joe@example.com', 'jim@example.com'])
      await recordsOf(store).invite(ada!.id, id, email, 0, OPERATOR)
    const [jim, joe] = await recordsOf(store).listInvited(ada!.id, id, 0)
    for (const [userId, organizationId, invitation] of [
      [bob!.id, id, joe!.id],
      [eve!.id, id, joe!.id],
      [eve!.id, other, joe!.id],
      [ada!.id, id, randomUUID()],
      [ada!.id, id, 'nothing'],
      [ada!.id, 'nothing', joe!.id],
    ] as const)
      assert.equal(
        await recordsOf(store).withdrawInvitation(userId, organizationId, invitation, OPERATOR),
        false,
      )
    assert.equal(await recordsOf(store).withdrawInvitation(ada!.id, id, joe!.id, OPERATOR), true)
    assert.equal(await recordsOf(store).withdrawInvitation(ada!.id, id, joe!.id, OPERATOR), false)
    assert.deepEqual(await recordsOf(store).listInvited(ada!.id, id, 0), [jim])
  })

  fullContract(open)
}

function fullContract(open: OpenFixture): void {
  test('members and invitations together are at most MEMBERS_MAX, also at once', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    const other = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    const invite = (index: number) =>
      invitations((index % 2 === 0 ? store : second).database).invite(
        ada!.id,
        id,
        `u${index}@example.com`,
        0,
        OPERATOR,
      )
    const asked = Array.from({ length: MEMBERS_MAX + 3 }, (_, index) => invite(index))
    const invited = await Promise.all(asked)
    assert.equal(invited.filter((outcome) => outcome === 'invited').length, MEMBERS_MAX - 2)
    assert.ok(invited.every((outcome) => ['invited', 'full'].includes(outcome)))
    assert.equal((await recordsOf(store).listInvited(ada!.id, id, 0)).length, MEMBERS_MAX - 2)

    // Inviting an address again needs no room, and other organizations have their own.
    assert.equal(await invite(invited.indexOf('invited')), 'invited')
    assert.equal(
      await recordsOf(store).invite(ada!.id, other, 'joe@example.com', 0, OPERATOR),
      'invited',
    )
    // Expired invitations make room.
    assert.equal(
      await recordsOf(store).invite(ada!.id, id, 'joe@example.com', NOW + 1, operatorAt(NOW + 1)),
      'invited',
    )
  })

  test('a user sees at most INVITATIONS_SHOWN invitations, the latest first', async (t) => {
    const { store } = await open(t)
    const eve = await addUser(store, 'eve@example.com')
    const names: string[] = []
    for (let index = 0; index <= INVITATIONS_SHOWN; index += 1) {
      const owner = await addUser(store, `owner${index}@example.com`)
      const id = await addOrganization(store, owner, { slug: `guild-${index}` })
      await recordsOf(store).invite(owner.id, id, eve.email, 0, operatorAt(NOW + index))
      names.unshift(`guild-${index}`)
    }
    const shown = await recordsOf(store).listInvitations(eve.id, 0)
    assert.deepEqual(
      shown.map(({ name, invited_by }) => [name, invited_by]),
      names
        .slice(0, INVITATIONS_SHOWN)
        .map((name) => [name, `${name.replace('guild-', 'owner')}@example.com`]),
    )
    const since = NOW + INVITATIONS_SHOWN
    assert.deepEqual(await recordsOf(store).listInvitations(eve.id, since), [shown[0]])
    assert.deepEqual(await recordsOf(store).listInvitations(eve.id, since + 1), [])
  })
}
