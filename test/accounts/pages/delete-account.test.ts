import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { listUsers } from '../../fixtures/service.ts'

/*
 * A user deletes the own account.
 */

const PATH = '/dashboard/account/delete'
const LATE_MS = 700_000

test('a page from before a change of the address confirms with the new one and signs out', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person } = await signedIn()
  await person.post('/dashboard/account/email', { email: 'eve@example.com', password: PASSWORD })
  const { status, body } = await person.post(PATH, { confirmation: 'ada@example.com' })
  assert.equal(status, 422)
  assert.match(body, /Type eve@example\.com to confirm\./)
  const deleted = await person.post(PATH, { confirmation: 'eve@example.com' })
  assert.equal(deleted.status, 200)
  assert.doesNotMatch(deleted.body, /Signed in as|aria-label="Sections"/)
  assert.doesNotMatch(person.cookie(), /session=/)
  assert.deepEqual(await listUsers(store), [])
})

test('ten minutes after the sign-in, the deletion takes the password', async (t) => {
  const { signedIn, store, elapse } = await startDashboard(t)
  const { person, user } = await signedIn()
  elapse(LATE_MS)
  const confirmation = 'ada@example.com'
  const without = await person.post(PATH, { confirmation })
  assert.equal(without.status, 403)
  assert.match(without.body, /Enter your password to delete your account/)
  assert.match(without.body, /<input type="hidden" name="confirmation" value="ada@example\.com">/)
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
    if (status === 401)
      assert.match(
        body,
        /If you have just changed your password or deleted your account, that is done/,
      )
  assert.deepEqual(await listUsers(store), [])
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
