import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import { sql, uuid } from '../../../src/database/sql.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { tally } from '../../contract/people.ts'
import { endSessionsWhileChecking } from '../../dashboard/intercept.ts'
import { type OpenDatabase, PASSWORD } from '../../fixtures/dashboard.ts'
import type { ProviderBrowser } from '../../fixtures/oidc/browser.ts'
import { startSite, type TestSite, titleOf } from '../../fixtures/oidc/site.ts'
import type { Person } from '../../fixtures/person.ts'
import type { Answer } from '../../fixtures/requests.ts'
import { recordsOf } from '../../fixtures/records.ts'

const FORM = '/dashboard/account/sign-ins'

/** Starts to connect, follows the link, and comes back. */
export async function connect(
  { provider }: TestSite,
  person: Person,
  name: string,
  browser: ProviderBrowser = provider.browser(),
): Promise<Answer> {
  const page = await person.post(FORM)
  assert.equal(page.status, 200, page.body)
  const link = /<a class="button primary" href="([^"]+)"/.exec(page.body)?.[1] ?? ''
  return person.get(await browser.visit(link.replaceAll('&amp;', '&'), name))
}

/** The sign-ins on the account page. */
export function connectingSuite(open: OpenDatabase): void {
  test('a user with a password connects a sign-in, uses it and removes it', async (t) => {
    const site = await startSite(t, open)
    const { provider, signedIn, visitor, come, arrived, rows } = site
    const { person, user } = await signedIn()
    assert.equal(titleOf(await come(visitor(), 'ada')), 'Connect your account first')
    const answer = await connect(site, person, 'ada')
    assert.equal(answer.headers.location, '/dashboard/account', answer.body)
    const account = await person.get('/dashboard/account')
    assert.match(account.body, /Sign-in connected/)
    assert.match(account.body, /<bdi>Example<\/bdi><\/strong>\s*<p><code[^>]*><bdi>ada<\/bdi>/)
    assert.doesNotMatch(account.body, /<button>Connect/)
    assert.equal((await connect(site, person, 'ada')).status, 303, 'connected already')

    const other = await arrived('ada')
    const removed = await person.submit(FORM, { remove: `${provider.issuer} ada` })
    assert.match(removed.body, /Sign-in removed/)
    assert.equal((await other.get('/dashboard/account')).status, 303, 'other sessions end')
    assert.equal(titleOf(await come(visitor(), 'ada')), 'Connect your account first')
    const entries = await rows(
      sql`SELECT action, user_id FROM audit_log WHERE action LIKE 'sign-in %'`,
    )
    assert.deepEqual(
      entries,
      ['sign-in connected', 'sign-in removed'].map((action) => ({ action, user_id: user.id })),
    )
  })

  test('the last way to sign in stays', async (t) => {
    const site = await startSite(t, open, { provided: { signUp: 'open' } })
    const { provider, arrived, rows } = site
    const person = await arrived('ada')
    const remove = (subject: string) =>
      person.post(FORM, { remove: `${provider.issuer} ${subject}` })
    const last = await remove('ada')
    assert.equal(last.status, 409)
    assert.match(last.body, /it is your last way to sign in/)
    // As a site does: the page connects one.
    await site.store.database.run(
      sql`INSERT INTO identities SELECT issuer, 'max', user_id FROM identities`,
    )
    assert.equal((await remove('ada')).status, 303)
    assert.equal((await remove('max')).status, 409)
    await site.store.database.run(
      sql`INSERT INTO identities SELECT 'https://old.example.com', 'ada', user_id FROM identities`,
    )
    assert.equal((await remove('max')).status, 409, 'another issuer is no way in')
    const old = await person.post(FORM, { remove: 'https://old.example.com ada' })
    assert.equal(old.status, 303)
    for (const unknown of ['', ' ', 'x', `${provider.issuer} none`, `${provider.issuer}\u0000 max`])
      await person.post(FORM, { remove: unknown || 'x x' })
    assert.equal((await rows(sql`SELECT subject FROM identities`)).length, 1)
  })

  test('a password without an address is no way to sign in', async (t) => {
    const site = await startSite(t, open)
    const { provider, signedIn, store, rows } = site
    const { person, user } = await signedIn()
    await connect(site, person, 'ada')
    // As a site does whose user changes to an address that another account has.
    await store.database.run(
      sql`UPDATE users SET external_id = '4711', email = NULL WHERE id = ${uuid(user.id)}`,
    )
    const last = await person.post(FORM, { remove: `${provider.issuer} ada` })
    assert.equal(last.status, 409, last.body)
    assert.equal((await rows(sql`SELECT subject FROM identities`)).length, 1)
  })

  test('connecting and removing need a recent sign-in or the password', async (t) => {
    const site = await startSite(t, open)
    const { provider, signedIn, age, rows } = site
    const { person } = await signedIn()
    await connect(site, person, 'ada')
    await age()
    const remove = `${provider.issuer} ada`
    for (const fields of [{}, { remove }, { remove, password: 'wrong' }]) {
      const answer = await person.post(FORM, fields)
      assert.deepEqual([answer.status, titleOf(answer)], [403, 'Is it you?'])
      assert.match(answer.body, /name="password"[^>]*required/)
      assert.match(answer.body, /href="\/dashboard\/account">Cancel</)
    }
    assert.equal((await rows(sql`SELECT subject FROM identities`)).length, 1)
    assert.equal((await person.post(FORM, { remove, password: PASSWORD })).status, 303)
    assert.equal((await rows(sql`SELECT subject FROM identities`)).length, 0)
  })

  test('an identity belongs to one account, and the page connects one', async (t) => {
    const site = await startSite(t, open, { provided: { signUp: 'open' } })
    const { provider, signedIn, arrived, rows } = site
    await arrived('max')
    const { person } = await signedIn('bob@example.com')
    assert.match((await connect(site, person, 'max')).body, /or is connected to another one/)
    provider.people.bob = {}
    assert.equal((await connect(site, person, 'bob')).status, 303)
    assert.match((await connect(site, person, 'ada')).body, /connected to another account at/)
    // Of a provider that the operator no longer has.
    await site.store.database.run(
      sql`UPDATE identities SET issuer = 'https://old.example.com' WHERE subject = 'bob'`,
    )
    assert.equal((await connect(site, person, 'ada')).status, 303)
    const { body } = await person.get('/dashboard/account')
    assert.match(body, /<bdi>Example<.*<bdi>ada<.*https:\/\/old\.example\.com.*<bdi>bob</s)
    assert.equal((await rows(sql`SELECT subject FROM identities`)).length, 3)
  })

  test('a session that ends on the way connects nothing', async (t) => {
    const site = await startSite(t, open)
    const { provider, signedIn, rows, store } = site
    const { person, user } = await signedIn()
    const page = await person.post(FORM)
    const link = /<a class="button primary" href="([^"]+)"/.exec(page.body)?.[1] ?? ''
    const back = await provider.browser().visit(link.replaceAll('&amp;', '&'), 'ada')
    await recordsOf(store).setDisabled(user.id, true, operatorAt(presentInstant()))
    assert.match((await person.get(back)).body, /Your session has ended/)
    assert.deepEqual(await rows(sql`SELECT subject FROM identities`), [])
  })

  test('a session that ends while the service checks its password connects and removes nothing', async (t) => {
    const site = await startSite(t, open)
    const { provider, signedIn, age, rows, store } = site
    const { person, user } = await signedIn()
    await connect(site, person, 'ada')
    endSessionsWhileChecking(store, user.id)
    for (const fields of [{}, { remove: `${provider.issuer} ada` }]) {
      await person.signIn(user.email, PASSWORD)
      await age()
      assert.equal((await person.post(FORM, { ...fields, password: PASSWORD })).status, 401)
    }
    assert.deepEqual(await rows(sql`SELECT subject FROM identities`), [{ subject: 'ada' }])
  })

  test('another site can start neither, and a link starts no connection', async (t) => {
    const { signedIn } = await startSite(t, open)
    const { person } = await signedIn()
    assert.equal((await person.post(FORM, {}, { 'Sec-Fetch-Site': 'cross-site' })).status, 403)
    assert.equal((await person.get(FORM)).status, 404)
  })
}

/** A site without passwords. */
export function withoutPasswordsSuite(open: OpenDatabase): void {
  const OFF = { signInByPassword: false, signUp: 'closed' } as const

  test('with PASSWORDS=off no page asks for a password or takes one', async (t) => {
    const site = await startSite(t, open, { ...OFF, provided: { signUp: 'open' } })
    const { visitor, arrived, signedIn, come } = site
    const { person: refused } = await signedIn('ada@example.com')
    assert.equal((await refused.get('/dashboard/account')).status, 303)
    assert.match((await come(visitor(), 'ada')).body, /ask the operator for a sign-in link/)
    const page = await visitor().get('/sign-in')
    assert.doesNotMatch(page.body, /<form|setup link/)
    const person = await arrived('max')
    const account = await person.get('/dashboard/account')
    assert.doesNotMatch(account.body, /type="password"/)
    for (const path of [
      '/dashboard/account/email',
      '/dashboard/account/password',
      '/sign-in',
      '/sign-up',
    ])
      assert.equal((await person.post(path, { password: PASSWORD })).status, 404, path)
    assert.equal((await visitor().get('/setup/x')).status, 404)
  })

  test('with PASSWORDS=off a sign-in link begins one session and sets no password', async (t) => {
    const { store, visitor, rows, provider } = await startSite(t, open, OFF)
    await provider.stop()
    const user = createUser('ada@example.com')
    const actor = operatorAt(presentInstant())
    await recordsOf(store).insertUser(user, actor)
    const { createToken, hashToken } = await import('../../../src/accounts/token.ts')
    const { signInLinks } = await import('../../../src/accounts/records/sign-in-links.ts')
    const token = createToken()
    const expiresAt = presentInstant() + 60_000_000
    await signInLinks(store.database).keepSignInLink(
      { userId: user.id, tokenHash: hashToken(token), expiresAt },
      actor,
    )
    const people = [visitor(), visitor(), visitor()]
    const page = await people[0]!.get(`/link/${token}`)
    assert.equal(page.status, 200)
    assert.doesNotMatch(page.body, /type="password"/)
    const answers = await Promise.all(people.map((person) => person.post(`/link/${token}`)))
    assert.deepEqual(tally(answers.map(({ status }) => status)), { 303: 1, 404: 2 })
    assert.deepEqual(await rows(sql`SELECT user_id FROM sessions`), [{ user_id: user.id }])
    assert.deepEqual(await rows(sql`SELECT hash FROM passwords`), [])
    const person = people[answers.findIndex(({ status }) => status === 303)]!
    await person.issue('bot')
    assert.deepEqual(await rows(sql`SELECT action FROM audit_log WHERE action LIKE '%by link'`), [
      { action: 'signed in by link' },
    ])
  })
}
