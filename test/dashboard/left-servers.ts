import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { User } from '../../src/listing/user.ts'
import { type OpenDatabase, startDashboard, type TestDashboard } from '../fixtures/dashboard.ts'
import { ask } from '../fixtures/requests.ts'

const OURS = { name: 'Ours', address: 'ours.example', slug: 'ours' }

/** What becomes of servers and organizations when people leave. */
export function leftServers(open: OpenDatabase): void {
  test('who leaves leaves their servers; an owner gives them back as drafts, and can then delete the organization', async (t) => {
    const dashboard = await startDashboard(t, open)
    const { signedIn, store, apiPort } = dashboard
    const { person: ada, user } = await signedIn('ada@example.com')
    const { person: bob, user: left } = await signedIn('bob@example.com')
    const organization = await store.ensureOrganization('guild', user.id)
    await join(dashboard, user, organization, left, 1)
    await store.saveServers(left.id, null, [{ ...OURS, name: 'Mine' }], 7)
    await store.saveServers(left.id, organization, [OURS, { ...OURS, slug: 'second' }], 8)
    const keys = [await bob.issue('1'), await bob.issue('2')]
    const listed = async () => JSON.parse((await ask(apiPort, { key: keys.pop()! })).body).servers

    const path = `/dashboard/organizations/${organization}`
    assert.doesNotMatch((await ada.get(path)).body, /no members any more/)
    await bob.submit(`${path}/members/remove`, { member: left.id })
    assert.equal((await listed()).length, 1, 'leaving changes no answer of the API')
    assert.equal((await bob.post(`${path}/give-back`)).status, 404)
    assert.match((await ada.get(path)).body, /2 servers are of people who are no members any more/)
    assert.equal((await ada.post(`${path}/remove`)).status, 404)

    await ada.submit(`${path}/give-back`)
    const servers = await listed()
    assert.deepEqual(
      servers
        .map(({ status, slug }: { status: string; slug: string }) => [status, slug])
        .toSorted(),
      [
        ['draft', null],
        ['draft', 'second'],
        ['published', 'ours'],
      ],
    )
    const records = await store.listServers(left.id)
    const updated = records.map(({ updated_at }) => updated_at)
    assert.deepEqual(updated, [8, 8, 7])
    assert.equal((await ada.post(`${path}/remove`)).status, 303)
    assert.equal((await store.listServers(left.id)).length, 3)
  })

  test('a removed owner is followed by the oldest member; an organization that nobody is left in goes', async (t) => {
    const dashboard = await startDashboard(t, open)
    const { store } = dashboard
    const [ada, bob, cem, dan] = await Promise.all(
      ['ada', 'bob', 'cem', 'dan'].map(
        async (name) => (await dashboard.signedIn(`${name}@a.example`)).user,
      ),
    )
    assert.ok(ada && bob && cem && dan)
    const guild = await store.ensureOrganization('guild', ada.id)
    await join(dashboard, ada, guild, bob, 3)
    await join(dashboard, ada, guild, cem, 2)
    const own = await store.ensureOrganization('own', ada.id)
    await join(dashboard, ada, own, dan, 1)
    await store.saveServers(dan.id, own, [OURS], 5)
    await store.saveServers(ada.id, own, [{ ...OURS, name: 'Hers' }], 5)
    assert.ok(await store.removeMember(dan.id, own, dan.id))

    assert.ok(await store.removeUser(ada.email))
    const members = await store.listMembers(bob.id, guild)
    assert.deepEqual(
      members.map(({ email, role }) => [email, role]),
      [
        [bob.email, 'member'],
        [cem.email, 'owner'],
      ],
    )
    const [given] = await store.listServers(dan.id)
    assert.deepEqual([given?.organization, given?.status], [null, 'draft'])
    const again = { id: crypto.randomUUID(), slug: 'own', name: 'own' }
    assert.equal(await store.insertOrganization(dan.id, again, 1), 'made')
    assert.equal(await store.removeUser(ada.email), false)
    assert.ok(await store.removeUser(cem.email))
    assert.equal((await store.listMembers(bob.id, guild))[0]?.role, 'owner')
  })
}

async function join(
  { store }: TestDashboard,
  owner: User,
  organization: string,
  member: User,
  now: number,
): Promise<void> {
  assert.equal(await store.invite(owner.id, organization, member.email, 0, now), 'invited')
  assert.equal(await store.acceptInvitation(member.id, organization, 0, now), 'joined')
}
