import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ENTRY, startDashboard } from '../../fixtures/dashboard.ts'
import { readForms, type Submission } from './read-forms.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Pages that were open while another tab, or another user, changed what they show.
 */

test('an edit does not overwrite what another tab has saved, unless it is sent again', async (t) => {
  const { person, store, user, server } = await withServer(t)
  const path = `/dashboard/servers/${server}`
  const [first, second] = [await formAt(person, path), await formAt(person, path)]
  const saved = await person.submit(path, withTyped(first, { name: 'First tab', version: '1.21' }))
  assert.match(saved.body, /First tab<\/bdi><\/b> was saved\./)

  const refused = await person.post(path, withTyped(second, { address: 'second.example' }))
  assert.equal(refused.status, 409)
  assert.match(refused.body, /Nothing was saved\. If you save again, you replace these values:/)
  assert.match(
    refused.body,
    /<li>Name: <bdi>First tab<\/bdi><\/li><li>Address: <bdi>play\.example\.com<\/bdi><\/li><li>Version: <bdi>1\.21<\/bdi><\/li>/,
  )
  assert.match(refused.body, /name="address" type="text" value="second\.example"/)
  assert.equal((await recordsOf(store).findServer(user.id, server))?.name, 'First tab')

  const again = readForms(refused.body).find(({ path: one }) => one === path)!
  await person.submit(path, Object.fromEntries(again.fields))
  const stored = await recordsOf(store).findServer(user.id, server)
  assert.deepEqual([stored?.name, stored?.address], ['Survival', 'second.example'])
})

test('an edit with mistakes still notices that another tab has saved', async (t) => {
  const { person, server } = await withServer(t)
  const path = `/dashboard/servers/${server}`
  const form = await formAt(person, path)
  await person.submit(path, withTyped(await formAt(person, path), { name: 'First tab' }))
  const wrong = await person.post(path, withTyped(form, { address: 'a b' }))
  assert.equal(wrong.status, 422)
  const mended = readForms(wrong.body).find(({ path: one }) => one === path)!
  const fields = { ...Object.fromEntries(mended.fields), address: 'c.example' }
  assert.equal((await person.post(path, fields)).status, 409)
})

test('an edit of a server that another tab has deleted can register it again', async (t) => {
  const { person, server, deleteServer } = await withServer(t)
  const path = `/dashboard/servers/${server}`
  const fields = withTyped(await formAt(person, path), { name: 'Typed "name"', version: '1.21' })
  await deleteServer()
  const refused = await person.post(path, fields)
  assert.equal(refused.status, 404)
  assert.match(refused.body, /This server no longer exists, or you can’t change it\./)
  const link = /href="(\/dashboard\/servers\/new\?[^"]+)"/.exec(refused.body)![1]!
  const { body } = await person.get(link.replaceAll('&amp;', '&'))
  assert.match(body, /name="name" type="text" value="Typed &quot;name&quot;"/)
  assert.match(body, /name="version" type="text" value="1\.21"/)
})

test('buttons for a server that another tab has deleted say so', async (t) => {
  const { person, server, deleteServer } = await withServer(t)
  const list = (await person.get('/dashboard/servers')).body
  const confirm = await formAt(person, `/dashboard/servers/${server}/delete`)
  await deleteServer()
  const forms = readForms(list).filter(({ path }) => path === '/dashboard/servers/change')
  assert.ok(forms.length >= 4)
  for (const { name, fields } of [...forms, confirm]) {
    const { status, body } = await person.post('/dashboard/servers/change', {
      ...Object.fromEntries(fields),
      0: 'on',
    })
    assert.equal(status, 404, name)
    assert.match(body, /Nothing was changed<\/h1>.*These servers no longer exist/s, name)
  }
})

test('if a membership ends while a form is open, nothing happens and what was typed stays', async (t) => {
  const { signedIn, store, faults } = await startDashboard(t)
  const { user: ada } = await signedIn('ada@example.com')
  const { person, user } = await signedIn('bob@example.com')
  const organization = await recordsOf(store).ensureOrganization(
    'guild',
    ada.id,
    operatorAt(presentInstant()),
  )
  await recordsOf(store).addMember(ada.id, organization, user.email, operatorAt(1))
  const under = `/dashboard/organizations/${organization}`
  await person.submit('/dashboard/servers/new', { ...ENTRY, organization_id: organization })
  const [server] = await recordsOf(store).listServers(user.id)
  const list = readForms((await person.get(under)).body)
  const edit = await formAt(person, `/dashboard/servers/${server!.id}`)
  assert.equal(
    await recordsOf(store).removeMember(
      ada.id,
      organization,
      user.id,
      operatorAt(presentInstant()),
    ),
    true,
  )

  const entry = { ...ENTRY, name: 'Typed', organization_id: organization, form: 'f' }
  for (const [path, fields] of [
    ['/dashboard/servers/new', entry],
    [`/dashboard/servers/${server!.id}`, withTyped(edit, { name: 'Typed' })],
  ] as const) {
    const { status, body } = await person.post(path, fields)
    assert.equal(status, 422, path)
    assert.match(body, /You are not a member of this organization\. Choose a different owner\./)
    assert.match(body, /name="name" type="text" value="Typed"/)
  }
  for (const { name, fields } of list.filter(({ path }) => path.endsWith('/change'))) {
    const { status } = await person.post('/dashboard/servers/change', {
      ...Object.fromEntries(fields),
      ...(name.includes(' to=') ? { 0: 'on' } : {}),
    })
    // A former member may still delete or move a server, after the page has asked.
    assert.equal(status, /deleted|moved/.test(name) ? 200 : 404, name)
  }
  for (const act of ['members', `members/${ada.id}/remove`, 'remove']) {
    const { status, body } = await person.post(`${under}/${act}`, { email: 'eve@example.com' })
    assert.equal(status, 404, act)
    assert.match(body, /Nothing was changed<\/h1>/, act)
  }
  const deleted = await person.submit('/dashboard/servers/change', {
    confirmed: 'deleted',
    rows: server!.id,
    from: under,
  })
  assert.match(deleted.body, /Survival<\/bdi><\/b> was deleted\./)
  const change = /name="change" value="([^"]+)"/.exec(deleted.body)![1]!
  const undone = await person.submit('/dashboard/servers/undo', { change, from: under })
  assert.match(undone.body, /Nothing was undone\. .* you are not in its organization/)
  assert.deepEqual(faults, [])
})

async function withServer(t: TestContext) {
  const dashboard = await startDashboard(t)
  const { person, user } = await dashboard.signedIn()
  await person.submit('/dashboard/servers/new', { ...ENTRY, form: 'f' })
  const [found] = await recordsOf(dashboard.store).listServers(user.id)
  const server = found!.id
  const rows = { rows: server, confirmed: 'deleted' }
  const deleteServer = () => person.submit('/dashboard/servers/change', rows)
  return { ...dashboard, person, user, server, deleteServer }
}

/** The form in the content of a page. */
async function formAt(
  person: Awaited<ReturnType<typeof withServer>>['person'],
  path: string,
): Promise<Submission> {
  const { body } = await person.get(path)
  return readForms(body).find(({ path: action }) => action !== '/sign-out')!
}

function withTyped({ fields }: Submission, typed: Record<string, string>): Record<string, string> {
  return { ...Object.fromEntries(fields), ...typed }
}
