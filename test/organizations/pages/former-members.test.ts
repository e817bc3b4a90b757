import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AddressedUser } from '../../../src/accounts/user.ts'
import { startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import { ask } from '../../fixtures/requests.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Servers and organizations after a member leaves.
 */

const OURS = { name: 'Ours', address: 'ours.example', slug: 'ours' }

test('a member’s servers stay after they leave; an owner can return them and delete the organization', async (t) => {
  const dashboard = await startDashboard(t)
  const { signedIn, store, apiPort } = dashboard
  const { person: ada, user } = await signedIn('ada@example.com')
  const { person: bob, user: left } = await signedIn('bob@example.com')
  const organization = await recordsOf(store).ensureOrganization(
    'guild',
    user.id,
    operatorAt(presentInstant()),
  )
  await join(dashboard, user, organization, left, 1)
  await recordsOf(store).saveServers(left.id, null, [{ ...OURS, name: 'Mine' }], operatorAt(7))
  await recordsOf(store).saveServers(
    left.id,
    organization,
    [OURS, { ...OURS, slug: 'second' }],
    operatorAt(8),
  )
  const keys = [await bob.issue('1'), await bob.issue('2')]
  const listed = async () => JSON.parse((await ask(apiPort, { key: keys.pop()! })).body).servers

  const path = `/dashboard/organizations/${organization}`
  assert.doesNotMatch((await ada.get(path)).body, /Former members/)
  await bob.submit(`${path}/members/${left.id}/remove`)
  assert.equal((await listed()).length, 1, 'leaving changes no answer of the API')
  assert.equal((await bob.post(`${path}/return`)).status, 404)
  assert.match((await ada.get(path)).body, /Former members registered 2 servers here/)
  assert.equal((await ada.post(`${path}/remove`)).status, 404)

  await ada.submit(`${path}/return`)
  const servers = await listed()
  assert.deepEqual(
    servers.map(({ status, slug }: { status: string; slug: string }) => [status, slug]).toSorted(),
    [
      ['draft', null],
      ['draft', 'second'],
      ['published', 'ours'],
    ],
  )
  const records = await recordsOf(store).listServers(left.id)
  const updated = records.map(({ updated_at }) => updated_at)
  assert.deepEqual(updated, [8, 8, 7])
  assert.equal((await ada.post(`${path}/remove`)).status, 303)
  assert.equal((await recordsOf(store).listServers(left.id)).length, 3)
})

test('if the last owner is removed, the oldest member becomes owner; an empty organization is deleted', async (t) => {
  const dashboard = await startDashboard(t)
  const { store } = dashboard
  const [ada, bob, cem, dan] = await Promise.all(
    ['ada', 'bob', 'cem', 'dan'].map(
      async (name) => (await dashboard.signedIn(`${name}@a.example`)).user,
    ),
  )
  assert.ok(ada && bob && cem && dan)
  const guild = await recordsOf(store).ensureOrganization(
    'guild',
    ada.id,
    operatorAt(presentInstant()),
  )
  await join(dashboard, ada, guild, bob, 3)
  await join(dashboard, ada, guild, cem, 2)
  const own = await recordsOf(store).ensureOrganization('own', ada.id, operatorAt(presentInstant()))
  await join(dashboard, ada, own, dan, 1)
  await recordsOf(store).saveServers(dan.id, own, [OURS], operatorAt(5))
  await recordsOf(store).saveServers(ada.id, own, [{ ...OURS, name: 'Hers' }], operatorAt(5))
  assert.ok(await recordsOf(store).removeMember(dan.id, own, dan.id, operatorAt(presentInstant())))

  assert.ok(await removeUser(store.database, ada.id, operatorAt(presentInstant())))
  const members = await recordsOf(store).listMembers(bob.id, guild)
  assert.deepEqual(
    members.map(({ email, role }) => [email, role]),
    [
      [bob.email, 'member'],
      [cem.email, 'owner'],
    ],
  )
  const [given] = await recordsOf(store).listServers(dan.id)
  assert.deepEqual([given?.organization, given?.status], [null, 'draft'])
  const again = { id: crypto.randomUUID(), slug: 'own', name: 'own' }
  assert.equal(await recordsOf(store).insertOrganization(dan.id, again, operatorAt(1)), 'made')
  assert.equal(await removeUser(store.database, ada.id, operatorAt(presentInstant())), false)
  assert.ok(await removeUser(store.database, cem.id, operatorAt(presentInstant())))
  assert.equal((await recordsOf(store).listMembers(bob.id, guild))[0]?.role, 'owner')
})

test('if servers with one slug return from several organizations at once, one keeps the slug', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const [ada, bob] = [await signedIn('ada@example.com'), await signedIn('bob@example.com')]
  const leave = async (slug: string) => {
    const organization = await recordsOf(store).ensureOrganization(
      slug,
      ada.user.id,
      operatorAt(presentInstant()),
    )
    await recordsOf(store).ensureOrganization(slug, bob.user.id, operatorAt(presentInstant()))
    await recordsOf(store).saveServers(
      bob.user.id,
      organization,
      [OURS, { ...OURS, slug }],
      operatorAt(5),
    )
    assert.ok(
      await recordsOf(store).removeMember(
        bob.user.id,
        organization,
        bob.user.id,
        operatorAt(presentInstant()),
      ),
    )
    return organization
  }
  const slugs = async () =>
    (await recordsOf(store).listServers(bob.user.id)).map(({ slug }) => slug ?? '-').toSorted()

  const guilds = await Promise.all(['one', 'two', 'three'].map(leave))
  const returned = guilds.map((id) =>
    recordsOf(store).giveBackServers(ada.user.id, id, operatorAt(presentInstant())),
  )
  assert.deepEqual(await Promise.all(returned), [2, 2, 2])
  assert.deepEqual(await slugs(), ['-', '-', 'one', 'ours', 'three', 'two'])

  // It gives one of the servers without a slug this one.
  await recordsOf(store).saveServers(bob.user.id, null, [{ ...OURS, slug: 'own' }], operatorAt(6))
  await Promise.all(['four', 'own'].map(leave))
  assert.ok(await removeUser(store.database, ada.user.id, operatorAt(presentInstant())))
  assert.deepEqual(await slugs(), [...'----', 'four', 'one', 'ours', 'own', 'three', 'two'])
})

async function join(
  { store }: TestDashboard,
  owner: AddressedUser,
  organization: string,
  member: AddressedUser,
  now: number,
): Promise<void> {
  assert.equal(
    await recordsOf(store).invite(owner.id, organization, member.email, 0, operatorAt(now)),
    'invited',
  )
  assert.equal(
    await recordsOf(store).acceptInvitation(member.id, organization, 0, operatorAt(now)),
    'joined',
  )
}
