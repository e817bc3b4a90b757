import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { REGISTERED_MAX } from '../../../src/servers/server.ts'
import { ENTRY, startDashboard } from '../../fixtures/dashboard.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Forms sent twice, the limit on servers, and the search.
 */

test('a form sent twice registers one server', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  await Promise.all(
    Array.from({ length: 6 }, () =>
      person.post('/dashboard/servers/new', { ...ENTRY, form: 'same' }),
    ),
  )
  assert.equal((await recordsOf(store).listServers(user.id)).length, 1)
})

test('a form with mistakes and without a tag gets one, so it registers one server', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const { status, body } = await person.post('/dashboard/servers/new', { ...ENTRY, name: '' })
  assert.equal(status, 422)
  const form = /name="form" value="([^"]*)"/.exec(body)?.[1] ?? ''
  for (let time = 0; time < 2; time += 1)
    await person.submit('/dashboard/servers/new', { ...ENTRY, form })
  assert.equal((await recordsOf(store).listServers(user.id)).length, 1)
})

test('a form sent again with other values says so, and sending it once more registers those', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const send = (fields: object) =>
    person.post('/dashboard/servers/new', { ...ENTRY, slug: '', form: 'same', ...fields })
  assert.equal((await send({})).status, 303)
  assert.equal((await send({})).headers.location, '/dashboard/servers')
  for (const other of [{ address: 'other.example' }, { slug: 'mine' }, { version: '1.21' }]) {
    const refused = await send(other)
    assert.equal(refused.status, 409)
    assert.match(refused.body, /already registered a server with other values/)
    assert.ok(refused.body.includes(`value="${Object.values(other)[0]}"`))
  }
  assert.equal((await recordsOf(store).listServers(user.id)).length, 1)
  const { body } = await send({ address: 'other.example' })
  const form = /name="form" value="([^"]+)"/.exec(body)?.[1] ?? ''
  assert.notEqual(form, 'same')
  assert.equal((await send({ address: 'other.example', form })).status, 303)
  assert.equal((await recordsOf(store).listServers(user.id)).length, 2)
})

test('an edition that another program stored may stay, and can’t come back', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const form = { ...ENTRY, form: 'f' }
  const id = randomUUID()
  const rest = { slug: null, version: null, listing_kind: null, organization_id: null }
  const stored = {
    ...rest,
    name: 'other',
    address: 'other.example',
    edition: 'JAVA',
    status: 'draft',
  }
  await recordsOf(store).insertServer(user.id, id, stored, operatorAt(presentInstant()))
  const save = (edition: string) =>
    person.post(`/dashboard/servers/${id}`, { ...form, name: 'renamed', edition })
  assert.equal((await save('JAVA')).status, 303)
  assert.equal((await save('java')).status, 303)
  const refused = await save('JAVA')
  assert.equal(refused.status, 422)
  assert.match(refused.body, /The edition must be written &quot;java&quot;\./)
})

test('a user can register 500 servers, including imported ones', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const entries = Array.from({ length: REGISTERED_MAX - 1 }, (_, index) => ({
    name: 'imported',
    address: `s${index}.example.com`,
  }))
  await recordsOf(store).saveServers(user.id, null, entries, operatorAt(presentInstant()))
  const send = (form: string) => person.post('/dashboard/servers/new', { ...ENTRY, form })
  assert.equal((await send('last')).status, 303)
  const refused = await send('one more')
  assert.equal(refused.status, 409)
  assert.match(refused.body, /you have reached the limit of 500 servers/)
  assert.equal((await send('last')).status, 303, 'what is there already is no new one')
})

test('a search uses its first 64 characters, and the field shows them', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const name = '🐈'.repeat(64)
  await recordsOf(store).saveServers(
    user.id,
    null,
    [{ name, address: 'a.example' }],
    operatorAt(presentInstant()),
  )
  const search = async (text: string) =>
    (await person.get(`/dashboard/servers?q=${encodeURIComponent(text)}`)).body
  assert.match(await search(`${name} and more`), /id="s0" /)
  assert.ok((await search(`${name}x`)).includes(`value="${name}"`))
  assert.match(await search(`${'🐈'.repeat(63)}x`), /No servers match/)
})
