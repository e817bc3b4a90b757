import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { type OpenDatabase, PASSWORD, startDashboard } from '../fixtures/dashboard.ts'

/** Making an account, signing in and out, and changing what one signs in with. */
export function accountPages(open: OpenDatabase): void {
  test('where sign-up is open anybody makes an account, and is signed in', async (t) => {
    const { visitor, faults } = await startDashboard(t, open)
    const ada = visitor()
    const page = await ada.submit('/sign-up', { email: 'Ada@Example.com', password: PASSWORD })
    assert.equal(page.status, 200)
    assert.match(page.body, /<bdi>ada@example\.com<\/bdi>/)
    assert.match(page.body, /No servers yet/)

    const again = await visitor().post('/sign-up', { email: 'ADA@example.com', password: PASSWORD })
    assert.equal(again.status, 422)
    assert.match(again.body, /id="email-error">There is an account/)
    assert.deepEqual(faults, [])
  })

  test('where it is closed there is no such page', async (t) => {
    const { visitor } = await startDashboard(t, open, { signUp: 'closed' })
    const fields = { email: 'ada@example.com', password: PASSWORD }
    assert.equal((await visitor().get('/sign-up')).status, 404)
    assert.equal((await visitor().post('/sign-up', fields)).status, 404)
    assert.doesNotMatch((await visitor().get('/sign-in')).body, /sign-up/)
  })

  test('the setup link makes the first account, once, also when opened by many at a time', async (t) => {
    const { visitor, store } = await startDashboard(t, open, { signUp: 'closed' })
    const token = await store.keepSecret('setup', randomBytes(16).toString('hex'))
    assert.equal((await visitor().get('/setup/wrong')).status, 404)
    assert.match((await visitor().get(`/setup/${token}`)).body, /Make the first one/)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        visitor().post(`/setup/${token}`, {
          email: `ada${index}@example.com`,
          password: PASSWORD,
        }),
      ),
    )
    assert.equal(answers.filter(({ status }) => status === 303).length, 1)
    assert.equal((await store.listUsers()).length, 1)
    assert.equal((await visitor().get(`/setup/${token}`)).status, 404)
  })

  test('a bad e-mail address or password is said beside its field, and what was typed stays', async (t) => {
    const { visitor } = await startDashboard(t, open)
    const { status, body } = await visitor().post('/sign-up', { email: 'a"b@', password: 'short' })
    assert.equal(status, 422)
    assert.match(body, /value="a&quot;b@"/)
    assert.match(body, /id="email-error">An e-mail address looks like/)
    assert.match(body, /id="password-error">The password must have 10 to 128 characters, not 5/)
    const email = 'ada@example.com'
    const same = await visitor().post('/sign-up', { email: `x${email}`, password: `X${email}` })
    assert.match(same.body, /not be the e-mail address/)
    const emoji = '🐈'.repeat(128)
    assert.equal((await visitor().post('/sign-up', { email, password: emoji })).status, 303)
    assert.equal((await visitor().signIn(email, emoji)).status, 303)
  })

  test('whatever is taken for an e-mail address can sign in', async (t) => {
    const { visitor } = await startDashboard(t, open)
    for (const email of [
      'ada@localhost',
      'ä@example.com',
      "o'neil+x@b.example",
      'x@müller.example',
    ]) {
      assert.equal((await visitor().post('/sign-up', { email, password: PASSWORD })).status, 303)
      assert.equal((await visitor().signIn(email.toUpperCase(), PASSWORD)).status, 303, email)
    }
  })

  test('an unknown e-mail address and a wrong password look the same', async (t) => {
    const { visitor, signedIn } = await startDashboard(t, open)
    await signedIn('ada@example.com')
    const known = await visitor().signIn('ada@example.com', 'not this one')
    const unknown = await visitor().signIn('bob@example.com', 'not this one')
    assert.deepEqual([known.status, unknown.status], [401, 401])
    assert.equal(known.body.replace('ada@', ''), unknown.body.replace('bob@', ''))
    assert.equal(known.headers['set-cookie'], undefined)
    assert.deepEqual(Object.keys(known.headers), Object.keys(unknown.headers))
  })

  test('they take the same: the password is worked on for both', async (t) => {
    const { visitor, signedIn, elapse } = await startDashboard(t, open)
    await signedIn('ada@example.com')
    const times: Record<string, number[]> = { ada: [], bob: [] }
    for (let round = 0; round < 8; round += 1)
      for (const name of ['ada', 'bob']) {
        elapse(3_600_000)
        const startedAt = performance.now()
        await visitor().signIn(`${name}@example.com`, 'not this one')
        times[name]?.push(performance.now() - startedAt)
      }
    const [known, unknown] = ['ada', 'bob'].map(
      (name) => times[name]!.toSorted((a, b) => a - b)[2]!,
    )
    // Without the work an answer takes a tenth of this.
    assert.ok(unknown! > known! / 2 && known! > unknown! / 2, `${known} and ${unknown} ms`)
  })

  test('a session is read from the store: signing out ends it for a copied cookie, too', async (t) => {
    const { signedIn } = await startDashboard(t, open)
    const { person } = await signedIn()
    const copy = person.copy()
    assert.equal((await copy.get('/dashboard/api')).status, 200)
    assert.equal((await person.post('/sign-out')).headers.location, '/sign-in')
    assert.equal(person.cookie(), '')
    assert.equal((await copy.get('/dashboard/api')).status, 303)
  })

  test('a session begins with a token of its own, whatever cookie the browser came with', async (t) => {
    const { signedIn } = await startDashboard(t, open)
    const { person } = await signedIn()
    const before = person.cookie()
    await person.signIn('ada@example.com', PASSWORD)
    assert.notEqual(person.cookie(), before)
  })

  test('signing out everywhere ends all sessions; so does another password, but the one that set it', async (t) => {
    const { signedIn, visitor } = await startDashboard(t, open)
    const { person } = await signedIn()
    const other = visitor()
    await other.signIn('ada@example.com', PASSWORD)
    const changed = await person.submit('/dashboard/account/password', {
      'new-password': 'another long password',
      password: PASSWORD,
    })
    assert.match(changed.body, /Your password is changed/)
    assert.equal((await other.get('/dashboard/api')).status, 303)
    assert.equal((await other.signIn('ada@example.com', PASSWORD)).status, 401)
    assert.equal((await other.signIn('ada@example.com', 'another long password')).status, 303)

    await person.post('/dashboard/account/sessions')
    assert.equal((await other.get('/dashboard/api')).status, 303)
  })

  test('e-mail address and password are changed with the present password only', async (t) => {
    const { signedIn, visitor } = await startDashboard(t, open)
    const { person } = await signedIn('ada@example.com')
    await signedIn('bob@example.com')
    const change = (email: string, password: string) =>
      person.post('/dashboard/account/email', { email, password })
    assert.match((await change('eve@example.com', 'not this one')).body, /The password is wrong/)
    assert.match((await change('BOB@example.com', PASSWORD)).body, /Another account has/)
    assert.match((await change('nonsense', PASSWORD)).body, /id="email-error"/)
    assert.equal((await change('Eve@example.com', PASSWORD)).status, 303)
    assert.match((await person.get('/dashboard/account')).body, /eve@example\.com/)
    assert.equal((await visitor().signIn('ada@example.com', PASSWORD)).status, 401)
    assert.equal((await visitor().signIn('eve@example.com', PASSWORD)).status, 303)
    const password = { 'new-password': 'another long password', password: 'not this one' }
    assert.equal((await person.post('/dashboard/account/password', password)).status, 422)
  })

  test('what is left of sessions that ended by themselves goes with the next sign-in', async (t) => {
    const { signedIn, visitor, elapse } = await startDashboard(t, open)
    const { person } = await signedIn()
    elapse(8 * 86_400_000)
    // Its row, which the library's own clock still takes for a session, is gone with the rest.
    await visitor().signIn('ada@example.com', PASSWORD)
    assert.equal((await person.get('/dashboard/api')).status, 303)
  })

  test('a removed user is signed out and has no key left', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { person } = await signedIn()
    await person.issue('bot')
    await store.removeUser('ada@example.com')
    assert.equal((await person.get('/dashboard/api')).status, 303)
  })

  test('under https the cookie is for this host alone, and never without TLS', async (t) => {
    const dashboardUrl = 'https://listing.example.com'
    const { visitor, signedIn } = await startDashboard(t, open, { dashboardUrl })
    await signedIn()
    const { headers } = await visitor().signIn('ada@example.com', PASSWORD)
    const [cookie = ''] = headers['set-cookie'] ?? []
    assert.match(cookie, /^__Host-session=/)
    for (const part of ['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/'])
      assert.ok(cookie.includes(part), cookie)
    assert.doesNotMatch(cookie, /Domain/i)
    assert.match(String(headers['strict-transport-security']), /max-age/)
  })

  test('what was done is written down, and shown to who did it', async (t) => {
    const { signedIn, visitor } = await startDashboard(t, open)
    const { person } = await signedIn()
    await visitor().signIn('ada@example.com', 'not this one')
    await person.issue('bot')
    const { body } = await person.get('/dashboard/account')
    for (const action of ['sign-in', 'sign-in refused', 'key issued'])
      assert.ok(body.includes(`<td>${action}</td><td><code>127.0.0.1</code>`), action)
  })
}
