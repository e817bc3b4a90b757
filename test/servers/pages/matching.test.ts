import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { serverExports } from '../../../src/servers/records/server-exports.ts'
import { serverImports } from '../../../src/servers/records/server-imports.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Selecting all servers that match a search, on every page of it.
 */

const CHANGE = '/dashboard/servers/change'
const DRAFTS = '/dashboard/servers?status=draft'

test('a user publishes 150 drafts with two forms, and undoes it', async (t) => {
  const { person, statuses } = await withDrafts(t, 150)
  const list = (await person.get(DRAFTS)).body
  assert.match(list, /<input type="checkbox" name="all" value="150">All 150 that match</)
  const done = await person.submit(CHANGE, { ...formOf(list), to: 'published' })
  assert.match(done.body, /<bdi>number 2<\/bdi><\/b> and 148 more are now published\./)
  assert.match(done.body, /<h2>No drafts<\/h2>/)
  assert.deepEqual(await statuses(), { published: 151 })
  const change = /name="change" value="([^"]*)"/.exec(done.body)![1]!
  const undone = await person.submit('/dashboard/servers/undo', { change })
  assert.match(undone.body, /and 148 more are as before\./)
  assert.deepEqual(await statuses(), { draft: 150, published: 1 })
})

test('all that match are deleted once the user confirms their number', async (t) => {
  const { person, statuses } = await withDrafts(t, 60)
  const list = (await person.get('/dashboard/servers?q=NUMBER&sort=name&page=2')).body
  const asked = await person.post(CHANGE, { ...formOf(list), to: 'deleted' })
  assert.match(asked.body, /<h1>Delete 60 servers<\/h1>.*<li>and 10 more<\/li>/s)
  assert.deepEqual(await statuses(), { draft: 60, published: 1 })
  const form = formOf(asked.body)
  assert.equal(form.rows, undefined)
  const sent = await person.post(CHANGE, { ...form, confirmed: 'deleted' })
  assert.equal(sent.headers.location, '/dashboard/servers?q=NUMBER&sort=name&page=2')
  assert.deepEqual(await statuses(), { published: 1 })
})

test('all that match move to an organization, and from there back', async (t) => {
  const { person, store, userId, statuses } = await withDrafts(t, 60)
  const id = crypto.randomUUID()
  const made = { id, slug: 'guild', name: 'Guild' }
  await recordsOf(store).insertOrganization(userId, made, operatorAt(1))
  for (const [path, move] of [
    [DRAFTS, id],
    [`/dashboard/organizations/${id}`, 'personal'],
  ] as const) {
    const list = (await person.get(path)).body
    const asked = await person.post(CHANGE, { ...formOf(list), to: 'moved' })
    assert.match(asked.body, /<h1>Move 60 servers<\/h1>.*<li>and 10 more<\/li>/s)
    const done = await person.submit(CHANGE, { ...formOf(asked.body), move, confirmed: 'moved' })
    assert.match(done.body, /and 58 more (were moved to|are personal servers)/)
    assert.deepEqual(
      await statuses(),
      move === 'personal' ? { draft: 60, published: 1 } : { published: 1 },
    )
  }
})

test('if another tab has changed how many match, nothing changes, before and after the question', async (t) => {
  const { person, statuses } = await withDrafts(t, 60)
  const list = (await person.get(DRAFTS)).body
  const asked = await person.post(CHANGE, { ...formOf(list), to: 'deleted' })
  const oneRow = { ...formOf(list), all: '' }
  await person.submit(CHANGE, { ...oneRow, published: '0' })
  for (const fields of [
    { ...formOf(list), to: 'published' },
    { ...formOf(list), to: 'deleted' },
    { ...formOf(list), to: 'moved' },
    { ...formOf(asked.body), confirmed: 'deleted' },
  ]) {
    const refused = await person.post(CHANGE, fields)
    assert.equal(refused.status, 409)
    assert.match(
      refused.body,
      /<h1>Nothing was changed<\/h1>.*no longer the one that you selected/s,
    )
    assert.match(refused.body, /<a href="\/dashboard\/servers\?status=draft">Go back to the list</)
  }
  assert.deepEqual(await statuses(), { draft: 59, published: 2 })
})

test('without a list or a number, no server is selected', async (t) => {
  const { person, statuses } = await withDrafts(t, 60)
  const form = { ...formOf((await person.get(DRAFTS)).body), to: 'published' }
  for (const wrong of [{ all: '0' }, { all: 'all' }, { all: '1e2' }, { from: '' }, { from: '/x' }])
    assert.match((await person.submit(CHANGE, { ...form, ...wrong })).body, /Select at least one/)
  // Members alone find servers of an organization.
  const elsewhere = `/dashboard/organizations/${crypto.randomUUID()}`
  assert.equal((await person.post(CHANGE, { ...form, from: elsewhere })).status, 409)
  assert.deepEqual(await statuses(), { draft: 60, published: 1 })
})

test('a list whose servers are all on the page offers no other selection', async (t) => {
  const { person } = await withDrafts(t, 49)
  const { body } = await person.get('/dashboard/servers')
  assert.doesNotMatch(body, /name="all"/)
  assert.match(body, /name="select" value="1">Select all</)
})

async function withDrafts(t: TestContext, drafts: number) {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  const now = presentInstant() - 60_000_000
  const entries = Array.from({ length: drafts }, (_, index) => ({
    name: `number ${index + 1}`,
    address: `s${index}.example.com`,
    status: 'draft',
    updated_at: now - index,
  }))
  const published = { name: 'One', address: 'one.example.com', updated_at: now - 1_000 }
  const { database } = dashboard.store
  await serverImports(database).saveServers(user.id, null, [...entries, published], operatorAt(now))
  /** How many personal servers have each status. */
  const statuses = async () => {
    const counts: Record<string, number> = {}
    for (const { status, organization } of await serverExports(database).listServers(user.id))
      if (organization === null) counts[status] = (counts[status] ?? 0) + 1
    return counts
  }
  return { ...dashboard, person, userId: user.id, statuses }
}

/** The fields of a list with the box for all that match, or of the question behind it. */
function formOf(body: string): Record<string, string> {
  const fields = ['form', 'from', 'rows', 'all'].flatMap((name) => {
    const [, value] = new RegExp(`name="${name}" value="([^"]*)"`).exec(body) ?? []
    return value === undefined ? [] : [[name, value.replaceAll('&amp;', '&')]]
  })
  return Object.fromEntries(fields) as Record<string, string>
}
