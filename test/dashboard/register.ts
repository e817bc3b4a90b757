import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentInstant } from '../../src/listing/instant.ts'
import { REGISTERED_MAX } from '../../src/listing/registered-server.ts'
import { type OpenDatabase, startDashboard } from '../fixtures/dashboard.ts'

const ENTRY = {
  name: 'Survival',
  address: 'play.example.com',
  edition: 'java',
  status: 'published',
}

/** What a form registers that is sent again, how many are registered, and how they are found. */
export function registeringPages(open: OpenDatabase): void {
  test('a form that is sent twice registers one server', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    await Promise.all(
      Array.from({ length: 6 }, () =>
        person.post('/dashboard/servers/new', { ...ENTRY, form: 'same' }),
      ),
    )
    assert.equal((await store.listServers(user.id)).length, 1)
  })

  test('a form that is sent again with other content says so, and registers that when it is sent once more', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    const send = (fields: object) =>
      person.post('/dashboard/servers/new', { ...ENTRY, slug: '', form: 'same', ...fields })
    assert.equal((await send({})).status, 303)
    assert.equal((await send({})).headers.location, '/dashboard/servers?done=registered')
    for (const other of [{ address: 'other.example' }, { slug: 'mine' }, { version: '1.21' }]) {
      const refused = await send(other)
      assert.equal(refused.status, 409)
      assert.match(refused.body, /has registered a server already, with other content/)
      assert.ok(refused.body.includes(`value="${Object.values(other)[0]}"`))
    }
    assert.equal((await store.listServers(user.id)).length, 1)
    const { body } = await send({ address: 'other.example' })
    const form = /name="form" value="([^"]+)"/.exec(body)?.[1] ?? ''
    assert.notEqual(form, 'same')
    assert.equal((await send({ address: 'other.example', form })).status, 303)
    assert.equal((await store.listServers(user.id)).length, 2)
  })

  test('one user registers so many servers; those of an import count', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    const entries = Array.from({ length: REGISTERED_MAX - 1 }, (_, index) => ({
      name: 'imported',
      address: `s${index}.example.com`,
    }))
    await store.saveServers(user.id, null, entries, presentInstant())
    const send = (form: string) => person.post('/dashboard/servers/new', { ...ENTRY, form })
    assert.equal((await send('last')).status, 303)
    const refused = await send('one more')
    assert.equal(refused.status, 409)
    assert.match(refused.body, /you have 500, which is the most/)
    assert.equal((await send('last')).status, 303, 'what is there already is no new one')
  })

  test('of a search 64 characters count, and the field shows them', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    const name = '🐈'.repeat(64)
    await store.saveServers(user.id, null, [{ name, address: 'a.example' }], presentInstant())
    const search = async (text: string) =>
      (await person.get(`/dashboard/servers?q=${encodeURIComponent(text)}`)).body
    assert.match(await search(`${name} and more`), /id="s0"/)
    assert.ok((await search(`${name}x`)).includes(`value="${name}"`))
    assert.match(await search(`${'🐈'.repeat(63)}x`), /Nothing found for/)
  })
}
