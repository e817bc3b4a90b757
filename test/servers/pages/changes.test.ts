import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { ENTRY, PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import type { Person } from '../../fixtures/person.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Publishing, unpublishing and deleting servers from a list, and undoing it.
 */

const CHANGE = '/dashboard/servers/change'

test('an action keeps the search, names the server once, and can be undone', async (t) => {
  const { person, store, userId } = await withServers(t)
  const place = '/dashboard/servers?q=number+1&sort=name'
  const before = await recordsOf(store).listServers(userId)
  const form = formOf((await person.get(place)).body)
  assert.equal(form.from, place)
  const { body } = await person.submit(CHANGE, { ...form, draft: '1' })
  assert.match(body, /class="notice good done">.*<b><bdi>number 10<\/bdi><\/b> is now a draft\./)
  assert.doesNotMatch((await person.get(place)).body, /is now a draft/, 'after a reload')

  for (let time = 0; time < 2; time += 1) {
    const undone = await person.submit('/dashboard/servers/undo', undoOf(body))
    assert.match(undone.body, /<bdi>number 10<\/bdi><\/b> is as before\./)
    assert.deepEqual(await recordsOf(store).listServers(userId), before)
  }
})

test('several servers are unpublished and deleted at once, and another selection is another change', async (t) => {
  const { person, store, userId } = await withServers(t)
  const form = formOf((await person.get('/dashboard/servers')).body)
  const selected = new URLSearchParams({ ...form, to: 'draft', 0: 'on', 2: 'on' })
  assert.match(
    await submit(person, selected),
    /<bdi>number 1<\/bdi><\/b> and <b><bdi>number 3<\/bdi><\/b> are now drafts\./,
  )
  selected.delete('2')
  assert.match(await submit(person, selected), /Every selected server is a draft already\./)

  const rows = form.rows.split('.').slice(0, 3).join('.')
  const fields = { form: 'g', rows, confirmed: 'deleted' }
  const deleted = await person.submit(CHANGE, fields)
  assert.match(deleted.body, /and 1 more were deleted\. The API no longer returns them\./)
  const undone = await person.submit('/dashboard/servers/undo', undoOf(deleted.body))
  assert.match(undone.body, /and 1 more are back\./)
  assert.equal((await recordsOf(store).listServers(userId)).length, 12)
})

test('if something changed since, undoing says what it left', async (t) => {
  const { person, store, userId } = await withServers(t)
  const form = formOf((await person.get('/dashboard/servers')).body)
  const selected = new URLSearchParams({ ...form, to: 'draft' })
  for (const row of ['0', '1']) selected.set(row, 'on')
  const undo = undoOf(await submit(person, selected))
  const [id] = form.rows.split('.')
  await person.submit(`/dashboard/servers/${id}`, { ...ENTRY, name: 'edited', status: 'draft' })
  const undone = await person.submit('/dashboard/servers/undo', undo)
  assert.match(
    undone.body,
    /1 of 2 servers is as before\. A server stays if it has changed since, its slug is taken, you are not in its organization, or you have 500 servers\./,
  )
  assert.equal((await recordsOf(store).findServer(userId, id!))?.name, 'edited')
})

test('editing and cancelling lead back to the place in the list', async (t) => {
  const { person, port } = await withServers(t)
  const place = '/dashboard/servers?q=number+1&status=published'
  const form = formOf((await person.get(place)).body)
  const [id] = form.rows.split('.')
  const Referer = `http://127.0.0.1:${port}${place}`
  const { body } = await person.get(`/dashboard/servers/${id}?row=4`, { Referer })
  const from = `${place.replace('&', '&amp;')}#s4`
  assert.ok(body.includes(`<input type="hidden" name="from" value="${from}">`), body)
  assert.ok(body.includes(`href="${from}">Cancel</a>`))
})

test('if the session ends before an action, signing in returns to the same place', async (t) => {
  const { person, store, userId } = await withServers(t)
  const place = '/dashboard/servers?q=number+1'
  const form = formOf((await person.get(place)).body)
  await recordsOf(store).endSessions(userId, operatorAt(presentInstant()))
  const from = { 'Sec-Fetch-Site': 'same-origin', Referer: `http://localhost${place}` }
  const asked = await person.post(CHANGE, { ...form, draft: '0' }, from)
  assert.equal(asked.status, 401)
  const next = /name="next" value="([^"]*)"/.exec(asked.body)?.[1] ?? ''
  assert.equal(next, place)
  const back = await person.post('/sign-in', { email: 'ada@example.com', password: PASSWORD, next })
  assert.equal(back.headers.location, place)
  const listed = await recordsOf(store).listServers(userId)
  assert.ok(listed.every(({ status }) => status === 'published'))
})

async function withServers(t: Parameters<typeof startDashboard>[0]) {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  const now = presentInstant() - 60_000_000
  const entries = Array.from({ length: 12 }, (_, index) => ({
    name: `number ${index + 1}`,
    address: `s${index}.example.com`,
    slug: `slug-${index}`,
    updated_at: now - index,
  }))
  await recordsOf(dashboard.store).saveServers(user.id, null, entries, operatorAt(now))
  return { ...dashboard, person, userId: user.id }
}

/** The hidden fields of a list's form, or of the page that asks before it deletes. */
function formOf(body: string): { form: string; from: string; rows: string } {
  const hiddenOf = (name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(body)?.[1]?.replaceAll('&amp;', '&') ?? ''
  return { form: hiddenOf('form'), from: hiddenOf('from'), rows: hiddenOf('rows') }
}

function undoOf(body: string): { change: string } {
  const [, change = ''] = /undo"><button name="change" value="([^"]*)">/.exec(body) ?? []
  assert.notEqual(change, '', body)
  return { change }
}

/** Sends a form with several fields of one name, and returns the page behind it. */
async function submit(person: Person, fields: URLSearchParams): Promise<string> {
  const answer = await person.send('POST', CHANGE, fields.toString())
  assert.equal(answer.status, 303, answer.body)
  return (await person.get(String(answer.headers.location))).body
}
