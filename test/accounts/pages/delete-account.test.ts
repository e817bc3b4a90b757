import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { PASSWORD, sqliteDatabase, startDashboard } from '../../fixtures/dashboard.ts'
import { ask } from '../../fixtures/requests.ts'
import { listUsers } from '../../fixtures/service.ts'
import { openScene } from '../../reliability/fault-injection/scenes/dashboard-scene.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * A user deletes the own account.
 */

const PATH = '/dashboard/account/delete'
const LATE_MS = 700_000

test('the page says what goes, and the deletion removes it as `user remove` does', async (t) => {
  const scene = await openScene(t, sqliteDatabase)
  const { dashboard, ada, user, bob, keys, organization } = scene
  const { store } = dashboard
  const goes = [
    /2 active keys, revoked for good/,
    /<li>2 servers, 1 of them in organizations<\/li>/,
    /1 organization without another member/,
    /1 organization without another owner, whose oldest other member becomes the owner/,
  ]
  const asked = await ada.get(PATH)
  assert.equal(asked.status, 200)
  for (const item of goes) assert.match(asked.body, item)
  assert.match(asked.body, /keeps what was done in the account.* for up to 400 days/)
  assert.match(asked.body, /OPERATORS lists your address/)

  const deleted = await ada.post(PATH, { confirmation: ' ADA@example.com ' })
  assert.equal(deleted.status, 200)
  assert.match(deleted.body, /The account <bdi>ada@example\.com<\/bdi> was deleted/)
  for (const item of goes) assert.match(deleted.body, item)
  assert.doesNotMatch(deleted.body, /Signed in as|aria-label="Sections"/)
  assert.equal(ada.cookie(), '')

  const named = (await listUsers(store)).map(({ email }) => email)
  assert.ok(!named.includes(user.email))
  assert.deepEqual(await recordsOf(store).listServers(user.id), [])
  const [kept] = await recordsOf(store).listMembers(bob.id, organization)
  assert.deepEqual([kept?.role, kept?.user_id ?? bob.id], ['owner', bob.id])
  for (const { key } of keys) assert.equal((await ask(dashboard.apiPort, { key })).status, 401)
  const [entry] = await recordsOf(store).listAudit(1)
  assert.deepEqual(
    [entry?.action, entry?.user_id, entry?.subject, entry?.address],
    ['user removed', user.id, 'ada@example.com', '127.0.0.1'],
  )
  assert.equal((await dashboard.visitor().signIn('ada@example.com', PASSWORD)).status, 401)
  assert.deepEqual(dashboard.faults, [])
})

test('another address than one’s own deletes nothing', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const empty = await person.get(PATH)
  assert.match(empty.body, /no keys, no servers and no organization of its own/)
  for (const confirmation of ['', 'yes', 'eve@example.com', '"><b>ada@example.com']) {
    const { status, body } = await person.post(PATH, { confirmation })
    assert.equal(status, 422)
    assert.match(body, /id="confirmation-error">Type ada@example\.com to confirm\.</)
    assert.doesNotMatch(body, /<b>ada/)
  }
  assert.deepEqual(await listUsers(store), [user])
})

test('a page from before a change of the address confirms with the new one', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person } = await signedIn()
  await person.post('/dashboard/account/email', { email: 'eve@example.com', password: PASSWORD })
  const { status, body } = await person.post(PATH, { confirmation: 'ada@example.com' })
  assert.equal(status, 422)
  assert.match(body, /Type eve@example\.com to confirm\./)
  assert.equal((await person.post(PATH, { confirmation: 'eve@example.com' })).status, 200)
  assert.deepEqual(await listUsers(store), [])
})

test('ten minutes after the sign-in, the deletion takes the password', async (t) => {
  const { signedIn, store, elapse } = await startDashboard(t)
  const { person, user } = await signedIn()
  assert.doesNotMatch((await person.get(PATH)).body, /type="password"/)
  elapse(LATE_MS)
  assert.match((await person.get(PATH)).body, /Your password/)
  const confirmation = 'ada@example.com'
  const without = await person.post(PATH, { confirmation })
  assert.equal(without.status, 403)
  assert.match(without.body, /Enter your password to delete your account/)
  for (let wrong = 0; wrong < 5; wrong += 1) {
    const { status, body } = await person.post(PATH, { confirmation, password: 'not this one' })
    assert.equal(status, 403)
    assert.match(body, /The password is wrong/)
  }
  assert.equal((await person.post(PATH, { confirmation, password: PASSWORD })).status, 429)
  assert.deepEqual(await listUsers(store), [user])
  elapse(LATE_MS * 2)
  assert.equal((await person.post(PATH, { confirmation, password: PASSWORD })).status, 200)
  assert.deepEqual(await listUsers(store), [])
})

test('of eight deletions at once one is made, and the others say so', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  await issueApiKey(store.database, user.id, 'bot', operatorAt(presentInstant()))
  const tabs = Array.from({ length: 8 }, () => person.copy())
  const answers = await Promise.all(
    tabs.map((tab) => tab.post(PATH, { confirmation: 'ada@example.com' })),
  )
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  assert.deepEqual(statuses, [200, ...Array(7).fill(401)])
  for (const { status, body } of answers)
    if (status === 401) assert.match(body, /If you have just deleted your account, it is gone/)
  assert.deepEqual(await listUsers(store), [])
})

test('an account that an operator removes meanwhile is gone for its user, too', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  await person.get(PATH)
  await removeUser(store.database, user.id, operatorAt(presentInstant()))
  const { status, body } = await person.post(PATH, { confirmation: 'ada@example.com' })
  assert.equal(status, 401)
  assert.match(body, /Your session has ended/)
})

test('where a site manages the servers, the page says that nothing changes there', async (t) => {
  const site = { serversElsewhere: true, siteUrl: 'https://example.com', siteName: 'Blocks' }
  const there = await startDashboard(t, site)
  const { person } = await there.signedIn()
  const says = 'It changes nothing at <a href="https://example.com/"><bdi>Blocks</bdi></a>.'
  assert.ok((await person.get(PATH)).body.includes(says))
  const here = await startDashboard(t)
  const { person: other } = await here.signedIn()
  assert.doesNotMatch((await other.get(PATH)).body, /It changes nothing/)
})
