import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMAIL_CHANGES_MAX } from '../../../src/accounts/rate-limits.ts'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Limits on wrong passwords.
 */

const EMAIL = 'ada@example.com'

test('five of forty concurrent wrong passwords are checked; the right one works after a wait', async (t) => {
  const { visitor, signedIn, elapse } = await startDashboard(t)
  await signedIn(EMAIL)
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => visitor().signIn(EMAIL, `wrong password ${index}`)),
  )
  assert.equal(answers.filter(({ status }) => status === 401).length, 5)
  assert.equal(answers.filter(({ status }) => status === 429).length, 35)

  const refused = await visitor().signIn(EMAIL, PASSWORD)
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers['retry-after']) > 800)
  assert.match(refused.body, /Too many wrong passwords\. Try again in 15 minutes/)
  elapse(15 * 60_000 + 1_000)
  assert.equal((await visitor().signIn(EMAIL, PASSWORD)).status, 303)
})

test('attempts on an unknown account count too, and the right password clears the count', async (t) => {
  const { visitor, signedIn } = await startDashboard(t)
  await signedIn(EMAIL)
  const tries = async (email: string) => {
    const statuses = []
    for (let index = 0; index < 6; index += 1)
      statuses.push((await visitor().signIn(email, 'not this one')).status)
    return statuses
  }
  assert.deepEqual(await tries('bob@example.com'), [401, 401, 401, 401, 401, 429])
  for (let index = 0; index < 3; index += 1) {
    for (let wrong = 0; wrong < 4; wrong += 1) await visitor().signIn(EMAIL, 'not this one')
    assert.equal((await visitor().signIn(EMAIL, PASSWORD)).status, 303)
  }
})

test('one address has at most 50 wrong passwords over all accounts, whatever its X-Forwarded-For says', async (t) => {
  const { port, visitor, signedIn } = await startDashboard(t)
  const { person } = await signedIn(EMAIL)
  assert.ok(port > 0)
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const fields = { email: `user${index}@example.com`, password: 'not this one' }
      const headers = {
        'Sec-Fetch-Site': 'same-origin',
        'X-Forwarded-For': `198.51.100.${index}`,
      }
      return (await visitor().post('/sign-in', fields, headers)).status
    }),
  )
  assert.equal(statuses.filter((status) => status === 401).length, 50)
  assert.equal((await visitor().signIn(EMAIL, PASSWORD)).status, 429)
  assert.equal((await person.get('/dashboard/api')).status, 200)
})

test('one address can create at most 20 accounts in 15 minutes', async (t) => {
  const { visitor, store } = await startDashboard(t)
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      visitor().post('/sign-up', { email: `user${index}@example.com`, password: PASSWORD }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 303).length, 20)
  assert.equal(answers.filter(({ status }) => status === 429).length, 4)
  assert.equal((await recordsOf(store).listUserRecords()).length, 20)
})

test('behind a trusted proxy each reported address has its own limit', async (t) => {
  const { visitor, signedIn } = await startDashboard(t, { trustedProxies: ['127.0.0.1'] })
  await signedIn(EMAIL)
  const from = async (address: string) => {
    const fields = { email: EMAIL, password: 'not this one' }
    const headers = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-For': address }
    return (await visitor().post('/sign-in', fields, headers)).status
  }
  for (let index = 0; index < 5; index += 1)
    assert.equal(await from(`evil.invalid, 2001:db8::${index + 1}`), 401)
  assert.equal(await from('2001:db8:0:0:ffff::9'), 429)
  assert.equal(await from('2001:db8:0:1::9'), 401)
  assert.equal(await from('198.51.100.7'), 401)
})

test('attempts by strangers don’t lock the signed-in owner out', async (t) => {
  const { visitor, signedIn } = await startDashboard(t)
  const { person } = await signedIn(EMAIL)
  for (let index = 0; index < 6; index += 1) await visitor().signIn(EMAIL, 'not this one')
  assert.equal((await visitor().signIn(EMAIL, PASSWORD)).status, 429)
  const change = (password: string) =>
    person.post('/dashboard/account/email', { email: 'new@example.com', password })
  for (let index = 0; index < 5; index += 1)
    assert.match((await change('not this one')).body, /The password is wrong/)
  const refused = await change(PASSWORD)
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers['retry-after']) > 800)
  assert.match(refused.body, /Too many wrong passwords/, 'of the session itself so many count')
})

test('wrong passwords in one session don’t block another session of the same user', async (t) => {
  const { visitor, signedIn } = await startDashboard(t)
  const { person } = await signedIn(EMAIL)
  const other = visitor()
  await other.signIn(EMAIL, PASSWORD)
  const fields = { email: 'new@example.com', password: 'not this one' }
  for (let index = 0; index < 5; index += 1) await person.post('/dashboard/account/email', fields)
  const right = { ...fields, password: PASSWORD }
  assert.match((await person.post('/dashboard/account/email', right)).body, /Too many wrong/)
  assert.equal((await other.post('/dashboard/account/email', right)).status, 303)
})

test('a user whom strangers locked out of signing in can still issue keys and change the password', async (t) => {
  const { visitor, signedIn, elapse } = await startDashboard(t)
  const { person } = await signedIn(EMAIL)
  elapse(11 * 60_000)
  for (let index = 0; index < 6; index += 1) await visitor().signIn(EMAIL, 'not this one')
  assert.equal((await visitor().signIn(EMAIL, PASSWORD)).status, 429)
  assert.match(await person.issue('bot', { password: PASSWORD }), /^svc_live_/)
  const changed = { 'new-password': 'another long password', password: PASSWORD }
  assert.equal((await person.post('/dashboard/account/password', changed)).status, 303)
})

test('a user can try 20 new email addresses in 15 minutes; another try is a 429', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn(EMAIL)
  await signedIn('bob@example.com')
  const fields = { email: 'bob@example.com', password: PASSWORD }
  for (let index = 0; index < EMAIL_CHANGES_MAX; index += 1)
    assert.equal((await person.post('/dashboard/account/email', fields)).status, 422)
  const refused = await person.post('/dashboard/account/email', fields)
  assert.equal(refused.status, 429)
  assert.match(refused.body, /Too many attempts\. Try again in 15 minutes\./)
})
