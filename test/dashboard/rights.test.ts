import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { presentInstant } from '../../src/model/instant.ts'
import { PASSWORD, startDashboard, type TestDashboard } from '../fixtures/dashboard.ts'
import type { Person } from '../fixtures/person.ts'
import type { Answer } from '../fixtures/requests.ts'
import { everyRoute, routeOf } from './every-route.ts'
import { FIELDS, type Place, type Route, routesOf } from './routes.ts'
import { apiKeys } from '../../src/keys/records/api-keys.ts'
import { serverExports } from '../../src/servers/records/server-exports.ts'
import { sessions } from '../../src/accounts/records/sessions.ts'
import { organizations } from '../../src/organizations/records/organizations.ts'
import { serverImports } from '../../src/servers/records/server-imports.ts'
import { checkedImports } from '../../src/servers/records/checked-imports.ts'
import { disabledUsers } from '../../src/accounts/records/disabled-users.ts'
import { inventory } from '../../src/directory/records/inventory.ts'
import { invitations } from '../../src/organizations/records/invitations.ts'
import { servers } from '../../src/servers/records/servers.ts'
import { operatorAt } from '../../src/model/audit.ts'

/** Roles without a session, and the others. The owner's forms come last, because they succeed. */
const SIGNED_OUT = ['anonymous', 'ended session', 'disabled user'] as const
const SIGNED_IN = ['other user', 'operator', 'former', 'member', 'owner'] as const
type Role = (typeof SIGNED_OUT)[number] | (typeof SIGNED_IN)[number]

test('the table of rights has every route', () => {
  const ids = 'server shown shared left key waiting organization member invitation'.split(' ')
  const place = Object.fromEntries(ids.map((name) => [name, name])) as unknown as Place
  const routes = everyRoute()
  const listed = routesOf(place).map(({ method, path }) => routeOf(routes, method, path))
  assert.deepEqual(
    routes.filter((route) => !listed.includes(route)),
    [],
  )
})

test('on each route, another user’s record gets the same answer as a missing one', async (t) => {
  const dashboard = await startDashboard(t, {
    operators: ['operator@example.com'],
    siteUrl: 'https://example.com',
  })
  const { people, place, owner } = await fill(dashboard)
  const unknown = Object.fromEntries(
    Object.keys(place).map((name) => [name, randomUUID()]),
  ) as unknown as Place
  const before = await recordsOf(dashboard, owner, place)
  // From now on a key needs the password again, so that no role issues one.
  dashboard.elapse(700_000)
  for (const role of [...SIGNED_OUT, ...SIGNED_IN]) {
    const person = people[role]
    const elsewhere = routesOf(unknown)
    for (const [index, route] of routesOf(place).entries()) {
      const answer = await send(dashboard, person, route)
      const label = `${role}: ${route.method} ${route.path}`
      assert.equal(answer.status, expected(role, route), label)
      if (answer.status !== 404) continue
      // A page may repeat what was typed, so only the path differs if it has the id.
      const { path, fields = {} } = elsewhere[index]!
      const typed = path === route.path ? fields : route.fields
      const absent = await send(dashboard, person, { ...route, path, fields: typed ?? {} })
      assert.deepEqual([absent.status, absent.body], [404, answer.body], label)
    }
    if (role === 'member') await join(dashboard, owner, place.organization, place.member)
    if (role !== 'owner') assert.deepEqual(await recordsOf(dashboard, owner, place), before, role)
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
  assert.deepEqual(await apiKeys(store.database).listApiKeys(ada.id), [])
  assert.deepEqual(await serverExports(store.database).listServers(ada.id), [])
  assert.equal((await apiKeys(store.database).listApiKeys(bob.id)).length, 1)
  assert.equal((await serverExports(store.database).listServers(bob.id)).length, 1)
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
  if (route.everyone !== undefined) return route.everyone
  if (SIGNED_OUT.some((one) => one === role))
    return route.visitor ?? (route.method === 'GET' ? 303 : 401)
  return route[role as 'owner'] ?? route.own ?? 404
}

/** Each request comes a second after the one before, so that no budget of requests is used up. */
function send(
  dashboard: TestDashboard,
  person: Person,
  { method, path, fields }: Route,
): Promise<Answer> {
  dashboard.elapse(1_000)
  return method === 'GET' ? person.get(path) : person.post(path, fields)
}

interface Filled {
  people: Record<Role, Person>
  place: Place
  owner: string
}

/** The ended session was the owner's, and the disabled user was a member. */
async function fill(dashboard: TestDashboard): Promise<Filled> {
  const { store, signedIn, visitor } = dashboard
  const { person: ended, user } = await signedIn('owner@example.com')
  await sessions(store.database).endSessions(user.id, operatorAt(presentInstant()))
  const owner = visitor()
  await owner.signIn(user.email, PASSWORD)
  const organization = await organizations(store.database).ensureOrganization(
    'guild',
    user.id,
    operatorAt(presentInstant()),
  )
  const people = { anonymous: visitor(), 'ended session': ended, owner } as Record<Role, Person>
  const ids = {} as Record<Role, string>
  for (const role of ['other user', 'operator', 'former', 'member', 'disabled user'] as const) {
    const signed = await signedIn(`${role.split(' ')[0]}@example.com`)
    people[role] = signed.person
    ids[role] = signed.user.id
  }
  for (const role of ['former', 'member', 'disabled user'] as const)
    await join(dashboard, user.id, organization, ids[role])
  await owner.issue('bot')
  const save = async (id: string, name: string, status: string, place: string | null) => {
    const saved = await serverImports(store.database).saveServers(
      id,
      place,
      [{ name, address: `${name}.example`, status }],
      operatorAt(1),
    )
    assert.equal(saved.added, 1)
    const servers = await serverExports(store.database).listServers(id)
    return servers.find((server) => server.name === name)!.id
  }
  const place = {
    server: await save(user.id, 'own', 'draft', null),
    shown: await save(user.id, 'shown', 'published', null),
    shared: await save(user.id, 'ours', 'published', organization),
    left: await save(ids.former, 'left', 'published', organization),
    key: (await apiKeys(store.database).listApiKeys(user.id))[0]!.id,
    waiting: randomUUID(),
    organization,
    member: ids.member,
    invitation: await inviteDan(dashboard, user.id, organization),
  }
  const imported = [{ name: 'new', address: 'n.example' }]
  await checkedImports(store.database).keepImport(
    user.id,
    place.waiting,
    imported,
    presentInstant(),
  )
  assert.equal(
    await organizations(store.database).removeMember(
      user.id,
      organization,
      ids.former,
      operatorAt(presentInstant()),
    ),
    true,
  )
  assert.equal(
    await disabledUsers(store.database).setDisabled(
      ids['disabled user'],
      true,
      operatorAt(presentInstant()),
    ),
    'changed',
  )
  assert.equal((await visitor().signIn('disabled@example.com', PASSWORD)).status, 401)
  return { people, place, owner: user.id }
}

/** Returns the id of the invitation. */
async function inviteDan(
  { store }: TestDashboard,
  owner: string,
  organization: string,
): Promise<string> {
  const { invite, listInvited } = invitations(store.database)
  await invite(owner, organization, 'dan@example.com', 0, operatorAt(presentInstant()))
  const [invited] = await listInvited(owner, organization, 0)
  return invited!.id
}

async function join(
  { store }: TestDashboard,
  owner: string,
  organization: string,
  member: string,
): Promise<void> {
  const found = (await inventory(store.database).listUserRecords()).find(({ id }) => id === member)
  assert.equal(
    await invitations(store.database).invite(owner, organization, found!.email!, 0, operatorAt(1)),
    'invited',
  )
  assert.equal(
    await invitations(store.database).acceptInvitation(member, organization, 0, operatorAt(1)),
    'joined',
  )
}

/** What no other user may change. */
async function recordsOf(
  { store }: TestDashboard,
  owner: string,
  { organization, left }: Place,
): Promise<unknown> {
  return {
    servers: await serverExports(store.database).listServers(owner),
    left: await servers(store.database).findVisibleServer(owner, left),
    keys: await apiKeys(store.database).listApiKeys(owner),
    organizations: await organizations(store.database).listOrganizations(owner),
    members: await organizations(store.database).listMembers(owner, organization),
    invited: await invitations(store.database).listInvited(owner, organization, 0),
    user: (await inventory(store.database).listUserRecords()).find(({ id }) => id === owner),
  }
}
