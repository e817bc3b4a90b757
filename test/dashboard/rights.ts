import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { User } from '../../src/listing/user.ts'
import { type OpenDatabase, startDashboard, type TestDashboard } from '../fixtures/dashboard.ts'
import type { Person } from '../fixtures/person.ts'
import type { Answer } from '../fixtures/requests.ts'

type Role = 'anonymous' | 'ended session' | 'other user' | 'member' | 'owner'

/** What a route answers an owner, and a member where that differs from anybody else. */
interface Route {
  method: 'GET' | 'POST'
  path: string
  owner: number
  member?: number
  /** A page of everybody's own, which shows nothing of anybody else's. */
  isOwn?: boolean
  fields?: Record<string, string>
}

const FIELDS = { name: 'Changed', address: 'b.example', edition: 'java', status: 'draft' }

/** Every route for every role; the last ones change what the earlier ones need. */
function routesOf(place: Place): Route[] {
  const { server, shared, key, organization, member } = place
  const under = `/dashboard/organizations/${organization}`
  return [
    { method: 'GET', path: '/dashboard', owner: 303, isOwn: true },
    { method: 'GET', path: '/dashboard/api', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/servers', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/servers/new', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/servers/preview.json', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/organizations', owner: 200, isOwn: true },
    { method: 'GET', path: '/dashboard/account', owner: 200, isOwn: true },
    { method: 'GET', path: `/dashboard/api/${key}/delete`, owner: 200 },
    { method: 'GET', path: `/dashboard/servers/${server}`, owner: 200 },
    { method: 'GET', path: `/dashboard/servers/${server}/delete`, owner: 200 },
    { method: 'GET', path: `/dashboard/servers/${shared}`, owner: 200, member: 200 },
    { method: 'GET', path: `/dashboard/servers/${shared}/delete`, owner: 200 },
    { method: 'GET', path: under, owner: 200, member: 200 },
    { method: 'POST', path: `/dashboard/servers/${server}`, owner: 303, fields: FIELDS },
    { method: 'POST', path: '/dashboard/servers/status', owner: 303, fields: { draft: server } },
    { method: 'POST', path: `${under}/members`, owner: 303, fields: { email: 'bob@example.com' } },
    {
      method: 'POST',
      path: `${under}/members/withdraw`,
      owner: 404,
      fields: { invited: randomUUID() },
    },
    {
      method: 'POST',
      path: `${under}/members/remove`,
      owner: 404,
      fields: { member: randomUUID() },
    },
    { method: 'POST', path: `${under}/give-back`, owner: 303 },
    { method: 'POST', path: `${under}/accept`, owner: 404 },
    { method: 'POST', path: `${under}/decline`, owner: 404 },
    { method: 'POST', path: `${under}/remove`, owner: 404 },
    { method: 'POST', path: `/dashboard/api/${key}/delete`, owner: 303 },
    { method: 'POST', path: `/dashboard/servers/${server}/delete`, owner: 303 },
    {
      method: 'POST',
      path: `${under}/members/remove`,
      owner: 303,
      member: 303,
      fields: { member },
    },
  ]
}

interface Place {
  server: string
  /** Under the organization, registered by its owner. */
  shared: string
  key: string
  organization: string
  member: string
}

export function rightsOfPages(open: OpenDatabase): void {
  test('each route for each role: what is another’s is answered like what does not exist', async (t) => {
    const dashboard = await startDashboard(t, open)
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

  test('who is acted for is who is signed in, whatever the form says', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
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

  test('what is no id is answered like an id that does not exist', async (t) => {
    const { signedIn } = await startDashboard(t, open)
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
}

function expected(role: Role, route: Route): number {
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
  member: User,
): Promise<void> {
  assert.equal(await store.invite(ownerId, organization, member.email, 0, 1), 'invited')
  assert.equal(await store.acceptInvitation(member.id, organization, 0, 1), 'joined')
}

async function fill(
  dashboard: TestDashboard,
  owner: Person,
  userId: string,
  member: User,
): Promise<Place> {
  const { store } = dashboard
  await owner.issue('bot')
  await owner.submit('/dashboard/servers/new', { ...FIELDS, form: 'f' })
  const organization = await store.ensureOrganization('guild', userId)
  await join(dashboard, userId, organization, member)
  const [server] = await store.listServers(userId)
  const [key] = await store.listApiKeys(userId)
  // Not empty, so that it stays.
  await store.saveServers(userId, organization, [{ name: 'ours', address: 'o.example' }], 1)
  const servers = await store.listServers(userId)
  const shared = servers.find((one) => one.organization === 'guild')
  return { server: server!.id, shared: shared!.id, key: key!.id, organization, member: member.id }
}
