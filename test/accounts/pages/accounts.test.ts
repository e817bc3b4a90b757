import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { workOf } from '../../fixtures/passwords/password-work.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { createPasswords } from '../../../src/accounts/sign-in/passwords.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Creating accounts, signing in and out, changing email address and password.
 */

test('closed sign-up answers 404', async (t) => {
  const { visitor } = await startDashboard(t, { signUp: 'closed' })
  const fields = { email: 'ada@example.com', password: PASSWORD }
  assert.equal((await visitor().get('/sign-up')).status, 404)
  assert.equal((await visitor().post('/sign-up', fields)).status, 404)
  assert.doesNotMatch((await visitor().get('/sign-in')).body, /sign-up/)
})

test('eight concurrent requests to the setup link create one account', async (t) => {
  const { visitor, store } = await startDashboard(t, { signUp: 'closed' })
  const token = await recordsOf(store).keepSecret('setup', randomBytes(16).toString('hex'))
  assert.equal((await visitor().get('/setup/wrong')).status, 404)
  assert.match((await visitor().get(`/setup/${token}`)).body, /Create the first account/)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      visitor().post(`/setup/${token}`, {
        email: `ada${index}@example.com`,
        password: PASSWORD,
      }),
    ),
  )
  assert.equal(answers.filter(({ status }) => status === 303).length, 1)
  assert.equal((await recordsOf(store).listUserRecords()).length, 1)
  assert.equal((await visitor().get(`/setup/${token}`)).status, 404)
})

test('a bad email address or password has its error beside the field, and the form keeps its values', async (t) => {
  const { visitor } = await startDashboard(t)
  const { status, body } = await visitor().post('/sign-up', { email: 'a"b@', password: 'short' })
  assert.equal(status, 422)
  assert.match(body, /value="a&quot;b@"/)
  assert.match(body, /id="email-error">An email address must look like/)
  assert.match(body, /id="password-error">The password must have 10 to 128 characters, not 5/)
  const email = 'ada@example.com'
  const same = await visitor().post('/sign-up', { email: `x${email}`, password: `X${email}` })
  assert.match(same.body, /not be the email address/)
  const emoji = '🐈'.repeat(128)
  assert.equal((await visitor().post('/sign-up', { email, password: emoji })).status, 303)
  assert.equal((await visitor().signIn(email, emoji)).status, 303)
})

test('every email address that sign-up accepts can sign in', async (t) => {
  const { visitor } = await startDashboard(t)
  for (const email of ['ada@localhost', "o'neil+x@b.example", 'x@xn--mller-kva.example']) {
    assert.equal((await visitor().post('/sign-up', { email, password: PASSWORD })).status, 303)
    assert.equal((await visitor().signIn(email.toUpperCase(), PASSWORD)).status, 303, email)
  }
})

test('an unknown email address and a wrong password get the same answer', async (t) => {
  const { visitor, signedIn } = await startDashboard(t)
  await signedIn('ada@example.com')
  const known = await visitor().signIn('ada@example.com', 'not this one')
  const unknown = await visitor().signIn('bob@example.com', 'not this one')
  assert.deepEqual([known.status, unknown.status], [401, 401])
  assert.equal(known.body.replace('ada@', ''), unknown.body.replace('bob@', ''))
  assert.equal(known.headers['set-cookie'], undefined)
  assert.deepEqual(Object.keys(known.headers), Object.keys(unknown.headers))
})

test('an unknown email address costs as much hashing as a wrong password', async (t) => {
  const { visitor, signedIn } = await startDashboard(t)
  await signedIn('ada@example.com')
  const [known, unknown] = [
    await workOf(() => visitor().signIn('ada@example.com', 'not this one')),
    await workOf(() => visitor().signIn('bob@example.com', 'not this one')),
  ]
  assert.equal(known.length, 1)
  assert.deepEqual(unknown, known)
})

test('signing out also ends the session for a copied cookie', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const copy = person.copy()
  assert.equal((await copy.get('/dashboard/api')).status, 200)
  assert.equal((await person.post('/sign-out')).headers.location, '/sign-in')
  assert.equal(person.cookie(), '')
  assert.equal((await copy.get('/dashboard/api')).status, 303)
})

test('each sign-in makes a new token, whatever cookie the browser sends', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const before = person.cookie()
  await person.signIn('ada@example.com', PASSWORD)
  assert.notEqual(person.cookie(), before)
})

test('a common password can still sign in, and only a new one is refused', async (t) => {
  const { signedIn, visitor, store } = await startDashboard(t)
  const { user } = await signedIn()
  const common = 'Password1234'
  const hash = await createPasswords().hash(common)
  await recordsOf(store).setPassword(user.id, hash, operatorAt(presentInstant()))
  const ada = visitor()
  assert.equal((await ada.signIn('ada@example.com', common)).status, 303)
  const change = { password: common, 'new-password': common.toLowerCase() }
  const refused = await ada.post('/dashboard/account/password', change)
  assert.equal(refused.status, 422)
  assert.match(refused.body, /not be one of the most common ones; choose another one/)
  assert.equal((await visitor().signIn('ada@example.com', common)).status, 303)
})

test('under https the cookie has the __Host- prefix and is secure', async (t) => {
  const dashboardUrl = 'https://listing.example.com'
  const { visitor, signedIn } = await startDashboard(t, { dashboardUrl })
  await signedIn()
  const { headers } = await visitor().signIn('ada@example.com', PASSWORD)
  const [cookie = ''] = headers['set-cookie'] ?? []
  assert.match(cookie, /^__Host-session=/)
  for (const part of ['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/'])
    assert.ok(cookie.includes(part), cookie)
  assert.doesNotMatch(cookie, /Domain/i)
  assert.match(String(headers['strict-transport-security']), /max-age/)
})

test('the account page shows the user’s own events', async (t) => {
  const { signedIn, visitor } = await startDashboard(t)
  const { person } = await signedIn()
  await visitor().signIn('ada@example.com', 'not this one')
  await person.issue('bot')
  await person.post('/dashboard/account/email', { email: 'eve@example.com', password: PASSWORD })
  const { body } = await person.get('/dashboard/account')
  for (const words of [
    'Signed in',
    'Issued the key <bdi>bot</bdi>',
    'Changed the email address to <bdi>eve@example.com</bdi>',
  ])
    assert.ok(body.includes(`<td>${words}</td><td><code>127.0.0.1</code>`), words)
  assert.match(body, /In the last 24 hours, sign-ins to your account were refused 1 time, /)
  assert.match(body, /<td><code>127\.0\.0\.1<\/code><\/td><td[^>]*>1<\/td><td><time/)
})
