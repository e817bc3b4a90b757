import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { sql } from '../../../src/database/sql.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Names and addresses with invisible or misleading characters.
 */

test('pages show names as text, with emoji, and with invisible characters spelled out', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const name = '</b>"\'\u202eevil\u200b 👨‍👩‍👧‍👦'
  await person.issue(name)
  await recordsOf(store).saveServers(user.id, null, [{ name, address: 'a.example' }], operatorAt(1))
  const shown = '&lt;/b&gt;&quot;&#39;\\u{202e}evil\\u{200b} 👨‍👩‍👧‍👦'
  assert.ok((await person.get('/dashboard/api')).body.includes(`<bdi>${shown}</bdi>`))
  assert.ok((await person.get('/dashboard/servers')).body.includes(`>${shown}</a>`))
  const empty = await person.post('/dashboard/api', { form: 'x', name: '\u3164' })
  assert.match(
    empty.body,
    /id="name-error">A key&#39;s name must have a character that can be seen: /,
  )
  const fields = { name: '\u2800', address: 'a.example', edition: 'java', status: 'draft' }
  const server = await person.post('/dashboard/servers/new', { ...fields, form: 'f' })
  assert.match(server.body, /id="name-error">The name must have a character that can be seen\./)
})

test('a name that is written from right to left does not turn the text around it', async (t) => {
  const { signedIn, visitor, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const name = 'سرور!'
  const organization = { id: crypto.randomUUID(), slug: 'guild', name }
  await recordsOf(store).insertOrganization(user.id, organization, operatorAt(1))
  await person.issue(name)
  await recordsOf(store).saveServers(
    user.id,
    null,
    [{ name, address: 'a.example', version: name }],
    operatorAt(1),
  )
  const [server] = await recordsOf(store).listServers(user.id)
  const [apiKey] = await recordsOf(store).listApiKeys(user.id)
  const notice = `notice=added.${server!.id}`
  const pages = [
    'servers',
    `servers/${server!.id}/delete`,
    'servers/new',
    'api',
    `api/${apiKey!.id}/delete`,
    'organizations',
    `organizations/${organization.id}`,
    `organizations/${organization.id}/members`,
  ]
  for (const path of pages) {
    const headers = { Cookie: `${person.cookie()}; ${notice}` }
    const { status, body } = await visitor().get(`/dashboard/${path}`, headers)
    assert.equal(status, 200, path)
    const shown = body.replace(/<pre.*?<\/pre>/gs, '').matchAll(/(.{8})سرور!(.{7})/gsu)
    const around = [...shown].map(([, before = '', after = '']) => `${before}…${after}`)
    assert.ok(around.length > 0, path)
    // An element or characters isolate it, or it stands alone in a cell or a field.
    for (const one of around) assert.match(one, ISOLATED, `${path}: ${one}`)
  }
})

const ISOLATED = /<bdi>…<\/bdi>|\u2068…\u2069|="…"|row=\d+">…<\/a>|java …<\/td>/

test('a question about a server spells out its address, which another program may have written', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const organization = { id: crypto.randomUUID(), slug: 'guild', name: 'Guild' }
  await recordsOf(store).insertOrganization(user.id, organization, operatorAt(1))
  const entry = { name: 'Lagoon', address: 'a.example' }
  await recordsOf(store).saveServers(user.id, null, [entry], operatorAt(1))
  await store.database.run(sql`UPDATE servers SET host_label = ${'a.example\u202e\u200b'}`)
  const [server] = await recordsOf(store).listServers(user.id)
  const asked = { rows: server!.id, 0: 'on', to: 'moved' }
  for (const { body } of [
    await person.get(`/dashboard/servers/${server!.id}/delete`),
    await person.post('/dashboard/servers/change', asked),
  ])
    assert.match(body, /<code><bdi>a\.example\\u\{202e\}\\u\{200b\}<\/bdi><\/code>/)
})

test('a look-alike email address is refused at the sign-up and in the account', async (t) => {
  const { visitor, signedIn, faults } = await startDashboard(t)
  const { person } = await signedIn()
  for (const email of ['ada\u3164@example.com', '\u0430da@example.com', 'ä@example.com']) {
    const { status, body } = await visitor().post('/sign-up', { email, password: PASSWORD })
    assert.equal(status, 422)
    assert.match(body, /id="email-error">An email address must have only ASCII/)
    const change = { email, password: PASSWORD }
    assert.equal((await person.post('/dashboard/account/email', change)).status, 422)
  }
  assert.deepEqual(faults, [])
})
