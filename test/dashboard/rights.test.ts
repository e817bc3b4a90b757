import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { presentInstant } from '../../src/listing/instant.ts'
import type { AddressedUser } from '../../src/listing/accounts/user.ts'
import { startDashboard, type TestDashboard } from '../fixtures/dashboard.ts'
import type { Person } from '../fixtures/person.ts'
import type { Answer } from '../fixtures/requests.ts'
import { FIELDS, type Place, type Route, routesOf } from './routes.ts'

type Role = 'anonymous' | 'ended session' | 'other user' | 'member' | 'owner'

test('on each route, another user’s record gets the same answer as a missing one', async (t) => {
  const dashboard = await startDashboard(t, { operators: ['ada@example.com'] })
  const { person: owner, user } = await dashboard.signedIn('ada@example.com')
  const { person: other } = await dashboard.signedIn('bob@example.com')
  const { person: member, user: memberUser } = await dashboard.signedIn('cem@example.com')
  const { person: ended, user: gone } = await dashboard.signedIn('gone@example.com')
  await dashboard.store.endSessions(gone.id)
  const place = await fill(dashboard, owner, user.id, memberUser)
  const unknown = Object.fromEntries(
    Object.keys(place).map((name) => [name, randomUUID()]),
  ) as unknown as Place

  const roles: [Role, Person][] = [
    ['anonymous', dashboard.visitor()],
    ['ended session', ended],
    ['other user', other],
    ['member', member],
    ['owner', owner],
  ]
  for (const [role, person] of roles) {
    const elsewhere = routesOf(unknown)
    for (const [index, route] of routesOf(place).entries()) {
      if (role === 'owner' && index === routesOf(place).length - 1)
        await join(dashboard, user.id, place.organization, memberUser)
      const answer = await send(person, route)
      const label = `${role}: ${route.method} ${route.path}`
      assert.equal(answer.status, expected(role, route), label)
      if (answer.status !== 404) continue
      const absent = await send(person, elsewhere[index]!)
      assert.deepEqual([absent.status, absent.body], [404, answer.body], label)
    }
  }
  assert.deepEqual(dashboard.faults, [])
})

test('a form acts for the signed-in user, whatever user it names', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { user: ada } = await signedIn('ada@example.com')
  const { person, user: bob } = await signedIn('bob@example.com')
  const forged = { userId: ada.id, user_id: ada.id, created_by: ada.id, id: randomUUID() }
  await person.post('/dashboard/api', { ...forged, form: 'f', name: 'bot' })
  await person.post('/dashboard/servers/new', { ...forged, ...FIELDS, form: 'f' })
  assert.deepEqual(await store.listApiKeys(ada.id), [])
  assert.deepEqual(await store.listServers(ada.id), [])
  assert.equal((await store.listApiKeys(bob.id)).length, 1)
  assert.equal((await store.listServers(bob.id)).length, 1)
})

test('a malformed id gets the same answer as an unknown id', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const missing = await person.get(`/dashboard/servers/${randomUUID()}`)
  for (const id of ['x', '0', "' OR 1=1 --", '%00', '%F0%9F%90%88', 'a'.repeat(2_000)])
    for (const path of [
      `/dashboard/servers/${encodeURI(id)}`,
      `/dashboard/api/${encodeURI(id)}/delete`,
    ]) {
      const { status, body } = await person.get(path)
      assert.equal(status, 404, path)
      assert.equal(body.replaceAll(/ aria-current="page"/g, '').length > 0, true)
    }
  assert.equal(missing.status, 404)
})

function expected(role: Role, route: Route): number {
  if (route.isPublic) return route.owner
  if (role === 'anonymous' || role === 'ended session') return route.method === 'GET' ? 303 : 401
  if (route.isOwn || role === 'owner') return route.owner
  return role === 'member' ? (route.member ?? 404) : 404
}

function send(person: Person, { method, path, fields }: Route): Promise<Answer> {
  return method === 'GET' ? person.get(path) : person.post(path, fields)
}

async function join(
  { store }: TestDashboard,
  ownerId: string,
  organization: string,
  member: AddressedUser,
): Promise<void> {
  assert.equal(await store.invite(ownerId, organization, member.email, 0, 1), 'invited')
  assert.equal(await store.acceptInvitation(member.id, organization, 0, 1), 'joined')
}

async function fill(
  dashboard: TestDashboard,
  owner: Person,
  userId: string,
  member: AddressedUser,
): Promise<Place> {
  const { store } = dashboard
  await owner.issue('bot')
  await owner.submit('/dashboard/servers/new', { ...FIELDS, form: 'f' })
  const organization = await store.ensureOrganization('guild', userId)
  await join(dashboard, userId, organization, member)
  const [server] = await store.listServers(userId)
  const [key] = await store.listApiKeys(userId)
  // It has a server, so it can't be deleted.
  await store.saveServers(userId, organization, [{ name: 'ours', address: 'o.example' }], 1)
  const servers = await store.listServers(userId)
  const shared = servers.find((one) => one.organization === 'guild')
  const waiting = randomUUID()
  await store.keepImport(userId, waiting, [{ name: 'new', address: 'n.example' }], presentInstant())
  return {
    waiting,
    server: server!.id,
    shared: shared!.id,
    key: key!.id,
    organization,
    member: member.id,
  }
}
