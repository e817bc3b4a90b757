import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestDashboard } from '../fixtures/dashboard.ts'
import { type OpenDatabase, startDashboard } from '../fixtures/dashboard.ts'
import type { Person } from '../fixtures/person.ts'
import { ask } from '../fixtures/requests.ts'

const ENTRY = {
  name: 'Survival',
  address: 'play.example.com',
  edition: 'java',
  status: 'published',
}

/** Organizations: what is under them is seen by members and never answered by the API. */
export function organizationPages(open: OpenDatabase): void {
  test('a server is moved to an organization and back; the API returns it only when personal', async (t) => {
    const { signedIn, apiPort, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    const path = await makeOrganization(person, 'red-stone')
    const organization_id = path.split('/').at(-1)!
    await person.submit('/dashboard/servers/new', { ...ENTRY, form: 'f' })
    const [server] = await store.listServers(user.id)
    const keys = [await person.issue('1'), await person.issue('2'), await person.issue('3')]
    const listed = async () => JSON.parse((await ask(apiPort, { key: keys.pop()! })).body).servers
    assert.equal((await listed()).length, 1)

    const edit = `/dashboard/servers/${server!.id}`
    const moved = await person.submit(edit, { ...ENTRY, slug: 'survival', organization_id })
    assert.match(moved.body, /The API never returns these/)
    assert.match(moved.body, /Survival/)
    assert.deepEqual(await listed(), [])
    assert.match((await person.get('/dashboard/servers')).body, /1 more is under your <a/)
    await person.submit(edit, { ...ENTRY, slug: 'survival', organization_id: '' })
    assert.equal((await listed()).length, 1)
  })

  test('the last owner stays, and an organization with servers is not deleted', async (t) => {
    const dashboard = await startDashboard(t, open)
    const { person, user } = await dashboard.signedIn()
    const path = await makeOrganization(person, 'guild')
    assert.equal((await person.post(`${path}/members/remove`, { member: user.id })).status, 404)
    await person.submit('/dashboard/servers/new', {
      ...ENTRY,
      form: 'f',
      organization_id: path.split('/').at(-1)!,
    })
    assert.doesNotMatch((await person.get(path)).body, /Delete the organization/)
    assert.equal((await person.post(`${path}/remove`)).status, 404)
    const [server] = await dashboard.store.listServers(user.id)
    await person.submit(`/dashboard/servers/${server!.id}/delete`)
    assert.equal((await person.post(`${path}/remove`)).status, 303)
    assert.equal((await person.get(path)).status, 404)
  })

  test('a slug is one of its own, and a server cannot be put where one is no member', async (t) => {
    const dashboard = await startDashboard(t, open)
    const { person: ada } = await dashboard.signedIn('ada@example.com')
    const { person: bob, user } = await dashboard.signedIn('bob@example.com')
    const path = await makeOrganization(ada, 'guild')
    const make = (fields: Record<string, string>) => bob.post('/dashboard/organizations', fields)
    assert.match((await make({ name: 'G', slug: 'guild' })).body, /id="slug-error">There is an/)
    assert.match((await make({ name: 'G', slug: 'A b' })).body, /id="slug-error">A slug has/)
    assert.match((await make({ name: ' ', slug: 'g' })).body, /id="name-error">The name must have/)
    const foreign = { ...ENTRY, organization_id: path.split('/').at(-1)! }
    const refused = await bob.post('/dashboard/servers/new', { ...foreign, form: 'f' })
    assert.match(refused.body, /id="organization_id-error">You are no member/)
    await bob.submit('/dashboard/servers/new', { ...ENTRY, form: 'g' })
    const [server] = await dashboard.store.listServers(user.id)
    assert.equal((await bob.post(`/dashboard/servers/${server!.id}`, foreign)).status, 422)
  })

  test('who imports into an organization is a member of it', async (t) => {
    const dashboard = await startDashboard(t, open)
    const { person, user } = await dashboard.signedIn()
    const id = await dashboard.store.ensureOrganization('imported', user.id)
    assert.match((await person.get(`/dashboard/organizations/${id}`)).body, /Invite somebody/)
    assert.equal(await roleOfSecond(dashboard, id), 'member')
  })
}

async function makeOrganization(person: Person, slug: string): Promise<string> {
  const made = await person.post('/dashboard/organizations', { name: slug, slug })
  return String(made.headers.location).replace(/\?.*$/, '')
}

async function roleOfSecond({ signedIn, store }: TestDashboard, id: string) {
  const { user } = await signedIn('bob@example.com')
  await store.ensureOrganization('imported', user.id)
  const members = await store.listMembers(user.id, id)
  return members.find(({ user_id }) => user_id === user.id)?.role
}
