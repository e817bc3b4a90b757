import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/sql.ts'
import type { OpenDatabase } from '../../fixtures/dashboard.ts'
import { startSite, titleOf } from '../../fixtures/oidc/site.ts'
import { changeIdToken } from './provider-trouble.ts'

const OPEN = { provided: { signUp: 'open' } } as const
const CONFIRM = '/sign-in/oidc/confirm?next=%2Fdashboard%2Fapi%3Fname%3Dbot'

/** "Is it you?" without a password. */
export function confirmingSuite(open: OpenDatabase): void {
  test('a key is issued within ten minutes of the sign-in, and after another one', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, arrived, age, come, rows } = site
    const person = await arrived('ada')
    await person.issue('early')
    await age()
    const page = {
      'Sec-Fetch-Site': 'same-origin',
      Referer: 'https://example.com/dashboard/api?name=bot',
    }
    const refused = await person.post('/dashboard/api', { name: 'bot', form: 'x' }, page)
    assert.equal(refused.status, 403)
    assert.match(refused.body, /You signed in more than 10 minutes ago/)
    assert.doesNotMatch(refused.body, /type="password"/)
    const link = /href="(\/sign-in\/oidc\/confirm[^"]+)"/.exec(refused.body)?.[1]
    assert.equal(link, CONFIRM)

    const browser = provider.browser()
    const url = new URL(await site.leave(person.copy(), link))
    assert.equal(url.searchParams.get('prompt'), 'login')
    assert.equal(url.searchParams.get('max_age'), '0')
    const before = await rows(sql`SELECT id FROM sessions`)
    const answer = await come(person, 'ada', browser, link)
    assert.equal(answer.headers.location, '/dashboard/api?name=bot', answer.body)
    const after = await rows(sql`SELECT id FROM sessions`)
    assert.equal(after.length, 1)
    assert.notDeepEqual(after, before, 'the new session replaces the old one')
    await person.issue('bot')
    assert.deepEqual(
      await rows(sql`SELECT action, subject FROM audit_log WHERE action LIKE 'confirmed%'`),
      [{ action: 'confirmed', subject: provider.issuer }],
    )
  })

  test('a provider that sends no auth_time takes another round trip, and the entry says so', async (t) => {
    const { provider, arrived, age, come, rows } = await startSite(t, open, OPEN)
    const person = await arrived('ada')
    await age()
    provider.after = changeIdToken({ auth_time: undefined })
    assert.equal((await come(person, 'ada', provider.browser(), CONFIRM)).status, 303)
    await person.issue('bot')
    assert.deepEqual(await rows(sql`SELECT action FROM audit_log WHERE action LIKE 'confirmed%'`), [
      { action: 'confirmed without auth_time' },
    ])
    assert.match((await person.get('/dashboard/account')).body, /did not say whether it asked/)
  })

  test('a provider that did not ask again, and another person, confirm nothing', async (t) => {
    const { provider, arrived, age, come, rows } = await startSite(t, open, OPEN)
    await arrived('eve')
    const person = await arrived('ada')
    await age()
    const early = Math.floor(Date.now() / 1_000) - 300
    provider.after = changeIdToken({ auth_time: early })
    const old = await come(person, 'ada', provider.browser(), CONFIRM)
    assert.match(old.body, /did not ask you to sign in again/)
    provider.after = null
    for (const name of ['eve', 'max']) {
      const answer = await come(person, name, provider.browser(), CONFIRM)
      assert.match(answer.body, /is not connected to your account here/, name)
    }
    const refused = await person.post('/dashboard/api', { name: 'bot', form: 'x' })
    assert.equal(refused.status, 403)
    assert.equal((await rows(sql`SELECT id FROM users`)).length, 2)
    assert.deepEqual(
      await rows(sql`SELECT action FROM audit_log WHERE action LIKE 'confirmed%'`),
      [],
    )
  })

  test('a return for one purpose or session does nothing for another', async (t) => {
    const { provider, visitor, arrived, age, leave, rows } = await startSite(t, open, OPEN)
    const person = await arrived('ada')
    await age()
    const browser = provider.browser()
    const back = await browser.visit(await leave(person, CONFIRM), 'ada')
    const confirming = /oidc=[^;]+/.exec(person.cookie())?.[0] ?? ''

    // The session ends and another begins.
    const other = await arrived('ada')
    const session = /(?<![\w-])session=[^;]+/.exec(other.cookie())?.[0] ?? ''
    const mixed = await visitor().get(back, { Cookie: `${confirming}; ${session}` })
    assert.match(mixed.body, /Your session has ended, or you signed in again meanwhile/)
    const without = await visitor().get(back, { Cookie: confirming })
    assert.match(without.body, /Your session has ended, or you signed in again meanwhile/)

    // The cookie of another purpose has another state.
    const signingIn = visitor()
    await leave(signingIn)
    const swapped = await visitor().get(back, {
      Cookie: `${/oidc=[^;]+/.exec(signingIn.cookie())?.[0]}; ${session}`,
    })
    assert.equal(titleOf(swapped), 'Start again')
    assert.equal((await rows(sql`SELECT id FROM sessions`)).length, 2)
  })

  test('a cookie that the browser has changed makes no connection of a confirmation', async (t) => {
    const site = await startSite(t, open)
    const { provider, signedIn, age, leave, rows } = site
    const { person } = await signedIn('bob@example.com')
    await age()
    // The session is old, so its user would have to confirm before connecting a sign-in.
    const back = await provider.browser().visit(await leave(person, CONFIRM), 'max')
    const [, flow = '', rest = ''] = /oidc=([\w-]+)([^;]*)/.exec(person.cookie()) ?? []
    const begun = JSON.parse(Buffer.from(flow, 'base64url').toString())
    const changed = Buffer.from(JSON.stringify({ ...begun, purpose: 'connect' }))
    const session = /(?<![\w-])session=[^;]+/.exec(person.cookie())?.[0] ?? ''
    for (const text of [`${changed.toString('base64url')}${rest}`, flow, `${flow}.`, '.']) {
      const answer = await site.visitor().get(back, { Cookie: `oidc=${text}; ${session}` })
      assert.equal(titleOf(answer), 'Start again', text)
    }
    assert.deepEqual(await rows(sql`SELECT subject FROM identities`), [])
    const own = await person.get(back)
    assert.match(own.body, /is not connected to your account here/)
  })

  test('confirming without a session leads to the sign-in page', async (t) => {
    const { visitor } = await startSite(t, open, OPEN)
    const answer = await visitor().get(CONFIRM)
    assert.equal(answer.headers.location, '/sign-in?next=%2Fdashboard%2Fapi%3Fname%3Dbot')
  })
}
