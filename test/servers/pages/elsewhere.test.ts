import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { organizations } from '../../../src/organizations/records/organizations.ts'
import { serverImports } from '../../../src/servers/records/server-imports.ts'
import { serverExports } from '../../../src/servers/records/server-exports.ts'
import { everyRoute, type ProgramRoute } from '../../dashboard/every-route.ts'
import { ENTRY, startDashboard } from '../../fixtures/dashboard.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'

/*
 * SERVERS=elsewhere: a site manages the servers, and the dashboard shows them.
 */

const SITE = { serversElsewhere: true, siteUrl: 'https://example.com/mc', siteName: 'Blocks & Co' }
const CHANGES = /^\/dashboard\/servers/

test('no route of a dashboard for a site changes a server', async (t) => {
  const here = formsOf(everyRoute())
  assert.deepEqual(
    formsOf(everyRoute(true)),
    here.filter((path) => !CHANGES.test(path)),
  )

  const { person, servers } = await start(t)
  const before = await servers()
  const { id } = before[0]!
  const paths = here.filter((path) => CHANGES.test(path))
  assert.ok(paths.length >= 5)
  for (const path of paths) {
    const fields = { ...ENTRY, name: 'Changed', rows: id, confirmed: 'deleted', draft: '0' }
    const answer = await person.post(path.replace(':id', id), fields)
    assert.equal(answer.status, 404, path)
  }
  assert.deepEqual(await servers(), before)
})

test('the lists have servers and no controls, and each leads to the site', async (t) => {
  const { person, servers, organization } = await start(t)
  const server = (await servers()).find(({ name }) => name === 'Survival')
  const link =
    '<a class="button primary" href="https://example.com/mc/">Manage at \u2068Blocks &amp; Co\u2069</a>'
  for (const [path, shown] of [
    ['/dashboard/servers', 'Survival'],
    [`/dashboard/servers/${server!.id}`, 'Survival'],
    [`/dashboard/organizations/${organization}`, 'Creative'],
  ] as const) {
    const { status, body } = await person.get(path)
    assert.equal(status, 200, path)
    assert.ok(body.includes(shown) && body.includes(link), path)
    assert.doesNotMatch(body, /checkbox|servers\/new|servers\/import|Undo|Unpublish|edit one/, path)
  }
  for (const path of ['new', 'import', `${server!.id}/delete`])
    assert.equal((await person.get(`/dashboard/servers/${path}`)).status, 404, path)
  for (const path of ['preview.json', 'export.csv', 'export.json'])
    assert.equal((await person.get(`/dashboard/servers/${path}`)).status, 200, path)
})

test('a new user is led to the site for the first server, and then to a key', async (t) => {
  const { signedIn } = await startDashboard(t, SITE)
  const { person } = await signedIn('new@example.com')
  const start = await person.get('/dashboard/start')
  assert.match(start.body, /Servers are managed at <a href="https:\/\/example.com\/mc\/">/)
  assert.doesNotMatch(start.body, /servers\/new|servers\/import/)
  const empty = await person.get('/dashboard/servers')
  assert.match(empty.body, /No servers yet.*Add one at <a href="https:\/\/example.com\/mc\/">/s)
})

test('the pages of an organization say what leaving and deleting do to its servers', async (t) => {
  const { person, organization } = await start(t)
  const path = `/dashboard/organizations/${organization}`
  const members = await person.get(`${path}/members`)
  assert.match(members.body, /leaves their servers in this organization\. Move servers at <a/)
  assert.doesNotMatch(members.body, /move their own servers here/)
  assert.match((await person.get(path)).body, /first move or delete its servers at <a/)
  assert.equal((await person.post(`${path}/remove`, {})).status, 404)

  const made = await person.post('/dashboard/organizations', { name: 'Empty', slug: 'empty' })
  const empty = String(made.headers.location)
  assert.match((await person.get(empty)).body, /Delete organization…/)
  assert.match((await person.get(`${empty}/remove`)).body, /nothing changes at <a/)
  assert.equal((await person.post(`${empty}/remove`, {})).status, 303)
})

function formsOf(routes: readonly ProgramRoute[]): string[] {
  return routes.filter(({ method }) => method === 'POST').map(({ path }) => path)
}

async function start(t: TestContext) {
  const { signedIn, store } = await startDashboard(t, SITE)
  const { person, user } = await signedIn('ada@example.com')
  const { database } = store
  const actor = operatorAt(presentInstant())
  const organization = await organizations(database).ensureOrganization('guild', user.id, actor)
  const address = 'play.example.com'
  await serverImports(database).saveServers(user.id, null, [{ name: 'Survival', address }], actor)
  await serverImports(database).saveServers(
    user.id,
    organization,
    [{ name: 'Creative', address }],
    actor,
  )
  const servers = () => serverExports(database).listServers(user.id)
  return { person, servers, organization }
}
