import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ORGANIZATIONS_MAX } from '../../../src/organizations/organization.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, NOW, rename, tally } from '../people.ts'
import { invitations } from '../../../src/organizations/records/invitations.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** A user answers an invitation: accept or decline. */
export function answeringContract(open: OpenFixture): void {
  test('accepting an invitation makes the user a member and deletes the invitation', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!, { name: 'The Guild' })
    for (const { email } of [bob!, eve!])
      await recordsOf(store).invite(ada!.id, id, email, 0, OPERATOR)
    assert.deepEqual(await recordsOf(store).listInvitations(bob!.id, 0), [
      { organization_id: id, name: 'The Guild', invited_by: 'ada@example.com' },
    ])
    assert.equal(await recordsOf(store).acceptInvitation(bob!.id, id, 0, OPERATOR), 'joined')
    assert.deepEqual(await recordsOf(store).listInvitations(bob!.id, 0), [])
    assert.deepEqual(
      (await recordsOf(store).listMembers(bob!.id, id)).map(({ email, role }) => [email, role]),
      [
        ['ada@example.com', 'owner'],
        ['bob@example.com', 'member'],
      ],
    )
    assert.equal(await recordsOf(store).acceptInvitation(bob!.id, id, 0, OPERATOR), 'not found')
    assert.equal((await recordsOf(store).listInvitations(eve!.id, 0)).length, 1)
  })

  test("a user can't accept or decline an invitation to another user", async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    await recordsOf(store).invite(ada!.id, id, bob!.email, 0, OPERATOR)
    for (const [userId, organizationId] of [
      [eve!.id, id],
      [bob!.id, other],
      [bob!.id, randomUUID()],
      [bob!.id, 'nothing'],
      [randomUUID(), id],
    ] as const) {
      assert.equal(
        await recordsOf(store).acceptInvitation(userId, organizationId, 0, OPERATOR),
        'not found',
      )
      assert.equal(
        await recordsOf(store).declineInvitation(userId, organizationId, OPERATOR),
        false,
      )
    }
    assert.equal((await recordsOf(store).listMembers(ada!.id, id)).length, 1)
    assert.equal((await recordsOf(store).listInvitations(bob!.id, 0)).length, 1)
  })

  test('a declined invitation is deleted, and others stay', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    await recordsOf(store).invite(ada!.id, id, bob!.email, 0, OPERATOR)
    await recordsOf(store).invite(ada!.id, other, bob!.email, 0, OPERATOR)
    await recordsOf(store).invite(ada!.id, id, eve!.email, 0, OPERATOR)
    assert.equal(await recordsOf(store).declineInvitation(bob!.id, id, OPERATOR), true)
    assert.equal(await recordsOf(store).declineInvitation(bob!.id, id, OPERATOR), false)
    assert.equal(await recordsOf(store).acceptInvitation(bob!.id, id, 0, OPERATOR), 'not found')
    assert.equal((await recordsOf(store).listInvitations(bob!.id, 0))[0]?.organization_id, other)
    assert.equal((await recordsOf(store).listInvitations(eve!.id, 0)).length, 1)
  })

  test('an invitation can be accepted from `since` on, to the microsecond', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!)
    await recordsOf(store).invite(ada!.id, id, bob!.email, 0, OPERATOR)
    assert.equal(
      await recordsOf(store).acceptInvitation(bob!.id, id, NOW + 1, OPERATOR),
      'not found',
    )
    assert.equal(await recordsOf(store).acceptInvitation(bob!.id, id, NOW, OPERATOR), 'joined')
  })

  test('an invitation belongs to the user who has its address when it is answered', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    await recordsOf(store).invite(ada!.id, id, bob!.email, 0, OPERATOR)
    await rename(store, bob!, 'robert@example.com')
    await rename(store, eve!, 'bob@example.com')
    await rename(store, ada!, 'countess@example.com')
    assert.deepEqual(await recordsOf(store).listInvitations(bob!.id, 0), [])
    const [invitation] = await recordsOf(store).listInvitations(eve!.id, 0)
    assert.equal(invitation?.invited_by, 'countess@example.com')
    assert.equal(await recordsOf(store).acceptInvitation(bob!.id, id, 0, OPERATOR), 'not found')
    assert.equal(await recordsOf(store).acceptInvitation(eve!.id, id, 0, OPERATOR), 'joined')
  })

  concurrentAnswers(open)
}

function concurrentAnswers(open: OpenFixture): void {
  test('a user joins at most ORGANIZATIONS_MAX and keeps the other invitations', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (let index = 1; index < ORGANIZATIONS_MAX; index += 1) await addOrganization(store, bob!)
    const ids = await Promise.all(Array.from({ length: 8 }, () => addOrganization(store, ada!)))
    for (const id of ids) await recordsOf(store).invite(ada!.id, id, bob!.email, 0, OPERATOR)
    for (let round = 0; round < 6; round += 1) {
      const answers = await Promise.all(
        ids.map((id, index) =>
          invitations((index % 2 === 0 ? store : second).database).acceptInvitation(
            bob!.id,
            id,
            0,
            OPERATOR,
          ),
        ),
      )
      assert.deepEqual(tally(answers), { joined: 1, 'too many': 7 })
      assert.equal((await recordsOf(store).listOrganizations(bob!.id)).length, ORGANIZATIONS_MAX)
      assert.equal((await recordsOf(store).listInvitations(bob!.id, 0)).length, 7)
      const joined = ids[answers.indexOf('joined')]!
      await recordsOf(store).removeMember(bob!.id, joined, bob!.id, OPERATOR)
      await recordsOf(store).invite(ada!.id, joined, bob!.email, 0, OPERATOR)
    }
  })

  test('accepting one invitation twice at once joins once', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (let round = 0; round < 5; round += 1) {
      const id = await addOrganization(store, ada!)
      await recordsOf(store).invite(ada!.id, id, bob!.email, 0, OPERATOR)
      const answers = await Promise.all(
        [store, second, store, second].map((one) =>
          recordsOf(one).acceptInvitation(bob!.id, id, 0, OPERATOR),
        ),
      )
      assert.deepEqual(tally(answers), { joined: 1, 'not found': 3 })
    }
  })

  test('withdrawing or renewing an invitation during its answer does not deadlock', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (let round = 0; round < 12; round += 1) {
      const id = await addOrganization(store, ada!)
      await recordsOf(store).invite(ada!.id, id, bob!.email, 0, OPERATOR)
      const [{ id: invitation } = { id: '' }] = await recordsOf(store).listInvited(ada!.id, id, 0)
      const [joined, withdrawn, renewed] = await Promise.all([
        recordsOf(second).acceptInvitation(bob!.id, id, 0, OPERATOR),
        round % 2 === 0
          ? recordsOf(store).withdrawInvitation(ada!.id, id, invitation, OPERATOR)
          : false,
        round % 2 === 1 ? recordsOf(store).invite(ada!.id, id, bob!.email, 0, OPERATOR) : 'member',
      ])
      assert.notEqual(joined === 'joined', withdrawn || joined === 'not found')
      const isMember = (await recordsOf(store).listMembers(ada!.id, id)).length === 2
      assert.equal(isMember, joined === 'joined')
      assert.ok(['invited', 'member'].includes(renewed))
      if (isMember) await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR)
      await recordsOf(store).removeOrganization(ada!.id, id, OPERATOR)
    }
  })
}
