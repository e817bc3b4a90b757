import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TestDashboard, ENTRY, startDashboard } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import { ask } from '../../fixtures/requests.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Organizations: their members see their servers, and the API never returns them.
 */

test('a server moves to an organization and back, and the API returns it only while it is personal', async (t) => {
  const { signedIn, apiPort, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const path = await makeOrganization(person, 'red-stone')
  const organization_id = path.split('/').at(-1)!
  await person.submit('/dashboard/servers/new', { ...ENTRY, form: 'f' })
  const [server] = await recordsOf(store).listServers(user.id)
  const keys = [await person.issue('1'), await person.issue('2'), await person.issue('3')]
  const listed = async () => JSON.parse((await ask(apiPort, { key: keys.pop()! })).body).servers
  assert.equal((await listed()).length, 1)

  const edit = `/dashboard/servers/${server!.id}`
  const moved = await person.submit(edit, { ...ENTRY, slug: 'survival', organization_id })
  assert.match(moved.body, /The API never returns these/)
  assert.match(moved.body, /Survival/)
  assert.deepEqual(await listed(), [])
  assert.match(
    (await person.get('/dashboard/servers')).body,
    /You also have 1 server in <a[^>]*>organizations<\/a>, which the API does not return/,
  )
  assert.match(moved.body, /was moved to <a href=.* The API no longer returns it\./)
  const back = await person.submit(edit, { ...ENTRY, slug: 'survival', organization_id: '' })
  assert.match(back.body, /is a personal server now\. The API now returns it\./)
  assert.equal((await listed()).length, 1)
})

test('the last owner can’t leave, and an organization with servers can’t be deleted', async (t) => {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  const path = await makeOrganization(person, 'guild')
  assert.equal((await person.post(`${path}/members/${user.id}/remove`)).status, 404)
  await person.submit('/dashboard/servers/new', {
    ...ENTRY,
    form: 'f',
    organization_id: path.split('/').at(-1)!,
  })
  assert.doesNotMatch((await person.get(path)).body, /Delete organization/)
  assert.equal((await person.post(`${path}/remove`)).status, 404)
  const [server] = await recordsOf(dashboard.store).listServers(user.id)
  await person.submit('/dashboard/servers/change', { rows: server!.id, to: 'deleted for sure' })
  assert.equal((await person.post(`${path}/remove`)).status, 303)
  assert.equal((await person.get(path)).status, 404)
})

test('organization slugs are unique, and only members can put servers into one', async (t) => {
  const dashboard = await startDashboard(t)
  const { person: ada } = await dashboard.signedIn('ada@example.com')
  const { person: bob, user } = await dashboard.signedIn('bob@example.com')
  const path = await makeOrganization(ada, 'guild')
  const make = (fields: Record<string, string>) => bob.post('/dashboard/organizations', fields)
  assert.match(
    (await make({ name: 'G', slug: 'guild' })).body,
    /id="slug-error">Another organization has/,
  )
  assert.match((await make({ name: 'G', slug: 'A b' })).body, /id="slug-error">A slug can contain/)
  assert.match((await make({ name: ' ', slug: 'g' })).body, /id="name-error">The name must have/)
  const foreign = { ...ENTRY, organization_id: path.split('/').at(-1)! }
  const refused = await bob.post('/dashboard/servers/new', { ...foreign, form: 'f' })
  assert.match(refused.body, /id="organization_id-error">You are not a member/)
  await bob.submit('/dashboard/servers/new', { ...ENTRY, form: 'g' })
  const [server] = await recordsOf(dashboard.store).listServers(user.id)
  assert.equal((await bob.post(`/dashboard/servers/${server!.id}`, foreign)).status, 422)
})

test('an import into an organization makes the user a member', async (t) => {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  const id = await recordsOf(dashboard.store).ensureOrganization(
    'imported',
    user.id,
    operatorAt(presentInstant()),
  )
  assert.match((await person.get(`/dashboard/organizations/${id}/members`)).body, /Invite a member/)
  assert.equal(await roleOfSecond(dashboard, id), 'member')
})

async function makeOrganization(person: Person, slug: string): Promise<string> {
  const made = await person.post('/dashboard/organizations', { name: slug, slug })
  return String(made.headers.location).replace(/\?.*$/, '')
}

async function roleOfSecond({ signedIn, store }: TestDashboard, id: string) {
  const { user } = await signedIn('bob@example.com')
  await recordsOf(store).ensureOrganization('imported', user.id, operatorAt(presentInstant()))
  const members = await recordsOf(store).listMembers(user.id, id)
  return members.find(({ user_id }) => user_id === user.id)?.role
}
