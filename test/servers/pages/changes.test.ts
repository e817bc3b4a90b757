import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { ENTRY, PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { fields } from '../../contract/people.ts'
import type { Person } from '../../fixtures/person.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Publishing, unpublishing and deleting servers from a list, and undoing it.
 */

const CHANGE = '/dashboard/servers/change'

test('an action keeps the search and the row, names the server once, and can be undone', async (t) => {
  const { person, store, userId } = await withServers(t)
  const place = '/dashboard/servers?q=number+1&sort=name'
  const before = await recordsOf(store).listServers(userId)
  const form = formOf((await person.get(place)).body)
  assert.equal(form.from, place)
  const sent = await person.post(CHANGE, { ...form, draft: '1' })
  assert.deepEqual([sent.status, sent.headers.location], [303, `${place}#s1`])
  const { body } = await person.get(place)
  assert.match(body, /class="notice good done">.*<b><bdi>number 10<\/bdi><\/b> is now a draft\./)
  assert.doesNotMatch((await person.get(place)).body, /is now a draft/, 'after a reload')

  // The browser names the page with the button.
  const referer = `http://127.0.0.1:8081${place}&select=2`
  const headers = { 'Sec-Fetch-Site': 'same-origin', Referer: referer }
  const sentBack = await person.post('/dashboard/servers/undo', undoOf(body), headers)
  assert.equal(sentBack.headers.location, `${place}&page=2`)
  const undone = await person.get(place)
  assert.match(undone.body, /<bdi>number 10<\/bdi><\/b> is as before\./)
  assert.deepEqual(await recordsOf(store).listServers(userId), before)
  assert.match((await person.submit('/dashboard/servers/undo', undoOf(body))).body, /is as before/)
  const late = { ...undoOf(body), change: crypto.randomUUID() }
  assert.match((await person.submit('/dashboard/servers/undo', late)).body, /Nothing was changed/)
})

test('several servers are unpublished, published and deleted at once, and restored', async (t) => {
  const { person, store, userId } = await withServers(t)
  const before = await recordsOf(store).listServers(userId)
  const form = formOf((await person.get('/dashboard/servers')).body)
  const selected = new URLSearchParams({ ...form, to: 'draft' })
  for (const row of ['0', '2', '3']) selected.set(row, 'on')
  const drafts = await submit(person, selected)
  assert.match(
    drafts,
    /<bdi>number 1<\/bdi><\/b>, <b><bdi>number 3<\/bdi><\/b> and 1 more are now drafts\./,
  )
  selected.set('form', 'again')
  assert.match(
    await submit(person, selected),
    /Nothing was changed\. Every selected server is a draft/,
  )

  selected.set('to', 'deleted')
  const asked = await person.send('POST', CHANGE, selected.toString())
  assert.match(asked.body, /<h1>Delete 3 servers<\/h1>.*You can undo this for one hour/s)
  assert.equal((await recordsOf(store).listServers(userId)).length, before.length)
  const deleted = await person.submit(CHANGE, { ...formOf(asked.body), to: 'deleted for sure' })
  assert.match(deleted.body, /and 1 more were deleted\./)
  assert.equal((await recordsOf(store).listServers(userId)).length, before.length - 3)
  const undone = await person.submit('/dashboard/servers/undo', undoOf(deleted.body))
  assert.match(undone.body, /and 1 more are back\./)
  assert.deepEqual(
    (await recordsOf(store).listServers(userId)).map(({ id }) => id).toSorted(),
    before.map(({ id }) => id).toSorted(),
  )
})

test('another tab may have deleted the servers, and no server may be selected', async (t) => {
  const { person, store } = await withServers(t)
  const form = formOf((await person.get('/dashboard/servers')).body)
  await person.submit(CHANGE, { form: 'x', rows: form.rows.split('.')[0]!, to: 'deleted for sure' })
  const gone = await person.post(CHANGE, { ...form, draft: '0' })
  assert.equal(gone.status, 404)
  assert.match(gone.body, /<h1>Nothing was changed<\/h1>.*no longer exist/s)
  const fields = [{ to: 'draft' }, { to: 'deleted' }, { to: 'x', 0: 'on' }, { draft: '99' }, {}]
  for (const wrong of fields)
    assert.match((await person.submit(CHANGE, { ...form, ...wrong })).body, /Select at least one/)
  assert.equal((await recordsOf(store).listUserRecords()).length, 1)
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

test('undoing a deletion says how many servers are back, and why the others are not', async (t) => {
  const { person, store, userId } = await withServers(t)
  const remove = async (...slugs: (string | null)[]) => {
    const ids = slugs.map(() => crypto.randomUUID())
    for (const [index, slug] of slugs.entries())
      await recordsOf(store).insertServer(
        userId,
        ids[index]!,
        fields({ slug }),
        operatorAt(presentInstant()),
      )
    const change = crypto.randomUUID()
    await recordsOf(store).changeServers(
      userId,
      { id: change, becomes: null, servers: ids },
      operatorAt(presentInstant()),
    )
    return change
  }
  const undo = async (change: string) =>
    (await person.submit('/dashboard/servers/undo', { change })).body
  const [one, two] = [await remove('taken'), await remove('taken', null)]
  await recordsOf(store).insertServer(
    userId,
    crypto.randomUUID(),
    fields({ slug: 'taken' }),
    operatorAt(presentInstant()),
  )
  assert.match(await undo(one), /Nothing was undone\. A server stays if it has changed since, /)
  assert.match(
    await undo(two),
    /1 of 2 servers is back\. A server stays if it has changed since, its slug is taken, /,
  )
})

test('editing and cancelling lead back to the place in the list', async (t) => {
  const { person, port } = await withServers(t)
  const place = '/dashboard/servers?q=number+1&page=1'
  const form = formOf((await person.get(place)).body)
  const [id] = form.rows.split('.')
  const Referer = `http://127.0.0.1:${port}${place}`
  const { body } = await person.get(`/dashboard/servers/${id}?row=4`, { Referer })
  const from = `${place.replace('&', '&amp;')}#s4`
  assert.ok(body.includes(`<input type="hidden" name="from" value="${from}">`), body)
  assert.ok(body.includes(`href="${from}">Cancel</a>`))
  const saved = await person.post(`/dashboard/servers/${id}`, { ...ENTRY, from: `${place}#s4` })
  assert.equal(saved.headers.location, `${place}#s4`)
  for (const evil of ['//evil.example', 'https://evil.example/dashboard/servers', '/dashboard/api'])
    for (const path of [`/dashboard/servers/${id}`, CHANGE, '/dashboard/servers/undo']) {
      const answer = await person.post(path, { ...ENTRY, ...form, draft: '0', from: evil })
      assert.match(String(answer.headers.location), /^\/dashboard\/servers(#s0)?$/)
    }
})

test('if the session ends before an action, signing in returns to the same place', async (t) => {
  const { person, store, userId } = await withServers(t)
  const place = '/dashboard/servers?q=number+1'
  const form = formOf((await person.get(place)).body)
  await recordsOf(store).endSessions(userId, operatorAt(presentInstant()))
  const asked = await person.post(CHANGE, { ...form, draft: '0' })
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
