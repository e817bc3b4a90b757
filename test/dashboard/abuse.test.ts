import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENTRY, PASSWORD, startDashboard } from '../fixtures/dashboard.ts'
import { everyPattern } from './every-route.ts'
import { endSessionsWhileChecking, intercept } from './intercept.ts'
import { listUsers } from '../fixtures/service.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { removeUser } from '../../src/directory/records/removed-user.ts'
import { recordsOf } from '../fixtures/records.ts'

/*
 * Races and leftovers that an attacker could use.
 */

test('a sign-in with the old password begins no session if the password changes meanwhile', async (t) => {
  const { signedIn, visitor } = await startDashboard(t)
  const { person } = await signedIn()
  let password = PASSWORD
  for (let round = 0; round < 4; round += 1) {
    const thieves = Array.from({ length: 3 }, visitor)
    const next = `another horse of another color ${round}`
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

test('a removed member can change nothing in the organization, except move their own servers out', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person: ada } = await signedIn('ada@example.com')
  const { person: bob, user } = await signedIn('bob@example.com')
  const made = await ada.post('/dashboard/organizations', { name: 'guild', slug: 'guild' })
  const path = String(made.headers.location).replace(/\?.*$/, '')
  const organization_id = path.split('/').at(-1)!
  await ada.submit(`${path}/members`, { email: 'bob@example.com' })
  await bob.submit('/dashboard/servers/new', { ...ENTRY, form: 'f', organization_id })
  await ada.submit(`${path}/members/${user.id}/remove`)

  const [server] = await recordsOf(store).listServers(user.id)
  const edit = `/dashboard/servers/${server!.id}`
  const spoiled = { ...ENTRY, name: 'Spoiled', organization_id }
  assert.equal((await bob.post(edit, spoiled)).status, 422)
  const status = await bob.post('/dashboard/servers/change', { draft: '0', rows: server!.id })
  assert.equal(status.status, 404)
  assert.doesNotMatch((await ada.get(path)).body, /Spoiled|state"><bdi>draft/)
  assert.equal((await bob.post(edit, { ...ENTRY, organization_id: '' })).status, 303)
  assert.doesNotMatch((await ada.get(path)).body, /Survival/)
})

test('a session that ends while the service checks its password issues no key', async (t) => {
  const { signedIn, store, elapse } = await startDashboard(t)
  const { person, user } = await signedIn()
  elapse(11 * 60_000)
  endSessionsWhileChecking(store, user.id)
  const issued = await person.post('/dashboard/api', {
    form: 'f',
    name: 'bot',
    password: PASSWORD,
  })
  assert.doesNotMatch(issued.body, /svc_live_/)
  assert.deepEqual(await recordsOf(store).listApiKeys(user.id), [])
})

test('a session that ends while the service checks its password changes no address or password', async (t) => {
  const { signedIn, visitor, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  endSessionsWhileChecking(store, user.id)
  const email = { email: 'eve@example.com', password: PASSWORD }
  const password = { 'new-password': 'another long password', password: PASSWORD }
  for (const [path, fields] of [
    ['/dashboard/account/email', email],
    ['/dashboard/account/password', password],
  ] as const) {
    await person.signIn('ada@example.com', PASSWORD)
    const { status, body } = await person.post(path, fields)
    assert.equal(status, 422)
    assert.match(body, /Your session has ended\. Sign in again/)
  }
  assert.equal((await visitor().signIn('ada@example.com', PASSWORD)).status, 303)
})

test('a session that ends while the service checks its password deletes no account', async (t) => {
  const { signedIn, store, elapse } = await startDashboard(t)
  const { person, user } = await signedIn()
  elapse(11 * 60_000)
  endSessionsWhileChecking(store, user.id)
  const fields = { confirmation: 'ada@example.com', password: PASSWORD }
  assert.equal((await person.post('/dashboard/account/delete', fields)).status, 401)
  assert.deepEqual(await listUsers(store), [user])
})

test('a password that another browser replaces after its check changes no address', async (t) => {
  const { signedIn, visitor, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  let attempts = 0
  intercept(store.database, {
    // The limit of email changes comes last, after the checks of the password and the session.
    async after(texts) {
      if (!texts.some((text) => text.includes('INSERT INTO sign_in_attempts'))) return
      attempts += 1
      if (attempts === 2)
        await recordsOf(store).setPassword(user.id, 'another hash', operatorAt(presentInstant()))
    },
  })
  const fields = { email: 'eve@example.com', password: PASSWORD }
  const { status, body } = await person.post('/dashboard/account/email', fields)
  assert.equal(status, 422)
  assert.match(body, /Another session has just changed your password/)
  assert.deepEqual(await listUsers(store), [user])
  assert.equal((await visitor().signIn('eve@example.com', PASSWORD)).status, 401)
})

test('a setup link never works again once an account existed', async (t) => {
  const { visitor, store } = await startDashboard(t)
  const token = await recordsOf(store).keepSecret('setup', 'a-token')
  await visitor().submit('/sign-up', { email: 'ada@example.com', password: PASSWORD })
  const user = await recordsOf(store).findUser('ada@example.com')
  await removeUser(store.database, user!.id, operatorAt(presentInstant()))
  assert.equal((await visitor().get(`/setup/${token}`)).status, 404)
})

test('a return page that no header could hold is ignored', async (t) => {
  const { signedIn, visitor, faults } = await startDashboard(t)
  await signedIn()
  for (const next of ['/dashboard?x=\u0001', '/dashboard?x=\u007f', '/dashboard?x=ä']) {
    const fields = { email: 'ada@example.com', password: PASSWORD, next }
    const { status, headers } = await visitor().post('/sign-in', fields)
    assert.deepEqual([status, headers.location], [303, '/dashboard'])
  }
  assert.deepEqual(faults, [])
})

test('a path that spells the pattern of a route gets one answer, and so does the next request', async (t) => {
  const { signedIn, visitor } = await startDashboard(t)
  const { person } = await signedIn()
  const patterns = everyPattern()
  assert.ok(patterns.some((path) => path.endsWith('/*')))
  const guest = visitor()
  for (const path of patterns) {
    await guest.get(path)
    await person.get(path)
  }
  assert.equal((await guest.get('/docs')).status, 200)
  assert.equal((await person.get('/dashboard/account')).status, 200)
})
