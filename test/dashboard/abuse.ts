import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKey, hashApiKey, prefixOf } from '../../src/listing/api-key.ts'
import { type OpenDatabase, PASSWORD, startDashboard } from '../fixtures/dashboard.ts'

const ENTRY = {
  name: 'Survival',
  address: 'play.example.com',
  edition: 'java',
  status: 'published',
}

/** What somebody gets who means ill: nothing by being quick, nothing by being back, and nothing without end. */
export function abusiveVisits(open: OpenDatabase): void {
  test('a sign-in with the old password that the change of it overtakes begins no session', async (t) => {
    const { signedIn, visitor } = await startDashboard(t, open)
    const { person } = await signedIn()
    let password = PASSWORD
    for (let round = 0; round < 4; round += 1) {
      const thieves = Array.from({ length: 3 }, visitor)
      const next = `another horse of another colour ${round}`
      const [changed] = await Promise.all([
        person.post('/dashboard/account/password', { password, 'new-password': next }),
        ...thieves.map((thief) => thief.signIn('ada@example.com', password)),
      ])
      assert.equal(changed.status, 303, changed.body)
      for (const thief of thieves)
        assert.equal((await thief.get('/dashboard/account')).status, 303, 'has a session')
      password = next
    }
  })

  test('who was removed from an organization changes nothing there, but may take what is theirs out', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person: ada } = await signedIn('ada@example.com')
    const { person: bob, user } = await signedIn('bob@example.com')
    const made = await ada.post('/dashboard/organizations', { name: 'guild', slug: 'guild' })
    const path = String(made.headers.location).replace(/\?.*$/, '')
    const organization_id = path.split('/').at(-1)!
    await ada.submit(`${path}/members`, { email: 'bob@example.com' })
    await bob.submit(`${path}/accept`)
    await bob.submit('/dashboard/servers/new', { ...ENTRY, form: 'f', organization_id })
    await ada.submit(`${path}/members/remove`, { member: user.id })

    const [server] = await store.listServers(user.id)
    const edit = `/dashboard/servers/${server!.id}`
    const spoiled = { ...ENTRY, name: 'Spoiled', organization_id }
    assert.equal((await bob.post(edit, spoiled)).status, 422)
    const status = await bob.post('/dashboard/servers/status', { draft: server!.id })
    assert.equal(status.status, 404)
    assert.doesNotMatch((await ada.get(path)).body, /Spoiled|state"><bdi>draft/)
    assert.equal((await bob.post(edit, { ...ENTRY, organization_id: '' })).status, 303)
    assert.doesNotMatch((await ada.get(path)).body, /Survival/)
  })

  test('a session that ends while its password is checked issues no key', async (t) => {
    const { signedIn, visitor, store, elapse } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    elapse(11 * 60_000)
    // Others are checked before it, two at a time.
    const before = Array.from({ length: 40 }, (_, index) =>
      visitor().signIn(`user${index}@example.com`, 'not this one'),
    )
    await Promise.all(before.slice(0, 4))
    const issued = person.post('/dashboard/api', { form: 'f', name: 'bot', password: PASSWORD })
    await Promise.all(before.slice(0, 12))
    await store.endSessions(user.id)
    assert.doesNotMatch((await issued).body, /svc_live_/)
    await Promise.all(before)
    assert.deepEqual(await store.listApiKeys(user.id), [])
  })

  test('a setup link is dead for good once there was an account', async (t) => {
    const { visitor, store } = await startDashboard(t, open)
    const token = await store.keepSecret('setup', 'a-token')
    await visitor().submit('/sign-up', { email: 'ada@example.com', password: PASSWORD })
    await store.removeUser('ada@example.com')
    assert.equal((await visitor().get(`/setup/${token}`)).status, 404)
  })

  test('however many keys were deleted, the page has the latest of them', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person, user } = await signedIn()
    for (let number = 1; number <= 30; number += 1) {
      const key = generateKey()
      const id = crypto.randomUUID()
      const apiKey = { id, user_id: user.id, name: `key ${number}`, prefix: prefixOf(key) }
      const record = { ...apiKey, created_at: number, revoked_at: null, last_used_at: null }
      assert.equal(await store.insertApiKey(record, hashApiKey(key), 5), 'stored')
      await store.revokeApiKey(user.id, id, 1_000 + number)
    }
    const { body } = await person.get('/dashboard/api')
    assert.match(body, />key 30</)
    assert.match(body, />key 11</)
    assert.doesNotMatch(body, />key 10</)
    assert.match(body, /and others, deleted earlier/)
    assert.equal((await store.listApiKeys(user.id)).length, 30)
  })

  test('a page to go on to that no header could hold is not gone to', async (t) => {
    const { signedIn, visitor, faults } = await startDashboard(t, open)
    await signedIn()
    for (const next of ['/dashboard?x=\u0001', '/dashboard?x=\u007f', '/dashboard?x=ä']) {
      const fields = { email: 'ada@example.com', password: PASSWORD, next }
      const { status, headers } = await visitor().post('/sign-in', fields)
      assert.deepEqual([status, headers.location], [303, '/dashboard/api'])
    }
    assert.deepEqual(faults, [])
  })
}
