import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/sql.ts'
import type { OpenDatabase } from '../../fixtures/dashboard.ts'
import { startSite, titleOf } from '../../fixtures/oidc/site.ts'

const OPEN = { provided: { signUp: 'open' } } as const

/** The way to the provider and back. */
export function wholeWaySuite(open: OpenDatabase): void {
  test('a person gets an account at the first sign-in, and the same one later', async (t) => {
    const { visitor, arrived, come, rows, providerFaults } = await startSite(t, open, OPEN)
    const person = visitor()
    const page = await person.get('/sign-in')
    assert.match(page.body, /href="\/sign-in\/oidc">Sign in with \u2068Example\u2069/)
    const answer = await come(person, 'ada')
    assert.equal(answer.headers.location, '/dashboard', answer.body)
    const account = await person.get('/dashboard/account')
    assert.match(account.body, /You sign in as <bdi>ada@example.com/)
    assert.match(account.body, /Connected sign-ins/)

    await arrived('ada')
    assert.deepEqual(
      await rows(sql`SELECT email, subject FROM users JOIN identities ON user_id = id`),
      [{ email: 'ada@example.com', subject: 'ada' }],
    )
    assert.deepEqual(
      await rows(sql`SELECT action, subject FROM audit_log ORDER BY occurred_at, audit_log.id`),
      ['sign-up', 'sign-in', 'sign-in'].map((action) => ({ action, subject: 'ada@example.com' })),
    )
    assert.deepEqual(providerFaults(), [])
  })

  test('two first sign-ins of one person at once make one account', async (t) => {
    const { provider, visitor, leave, rows } = await startSite(t, open, OPEN)
    const people = [visitor(), visitor(), visitor(), visitor()]
    const paths: string[] = []
    for (const person of people)
      paths.push(await provider.browser().visit(await leave(person), 'max'))
    const answers = await Promise.all(people.map((person, index) => person.get(paths[index]!)))
    for (const { status, body } of answers) assert.equal(status, 303, body)
    assert.equal((await rows(sql`SELECT id FROM users`)).length, 1)
    assert.equal((await rows(sql`SELECT id FROM sessions`)).length, 4)
  })

  test('the request has PKCE, state, nonce and the redirect URI of DASHBOARD_URL', async (t) => {
    const { visitor, leave } = await startSite(t, open, {
      dashboardUrl: 'https://dashboard.example.com',
    })
    const person = visitor()
    const url = new URL(await leave(person))
    const query = Object.fromEntries(url.searchParams)
    assert.equal(query.redirect_uri, 'https://dashboard.example.com/sign-in/oidc/callback')
    assert.equal(query.code_challenge_method, 'S256')
    assert.match(query.code_challenge ?? '', /^[\w-]{43}$/)
    assert.match(query.state ?? '', /^[\w-]{43}$/)
    assert.match(query.nonce ?? '', /^[\w-]{43}$/)
    assert.equal(query.scope, 'openid email')
    const left = await person.get('/sign-in/oidc')
    assert.match(
      String(left.headers['set-cookie']),
      /^__Host-oidc=[\w-]+\.[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
  })

  test('the user returns to the page of the dashboard that sent them, and to no other', async (t) => {
    const { visitor, come, provider } = await startSite(t, open, OPEN)
    const person = visitor()
    const asked = await person.get('/dashboard/servers?q=x')
    const page = await person.get(String(asked.headers.location))
    const link = /href="(\/sign-in\/oidc\?[^"]+)"/.exec(page.body)?.[1] ?? ''
    const answer = await come(person, 'ada', provider.browser(), link)
    assert.equal(answer.headers.location, '/dashboard/servers?q=x')

    for (const next of ['https://evil.example', '//evil.example', '/\\evil.example', '/sign-out']) {
      const path = `/sign-in/oidc?next=${encodeURIComponent(next)}`
      const led = await come(visitor(), 'ada', provider.browser(), path)
      assert.equal(led.headers.location, '/dashboard', next)
    }
    const long = `/dashboard/servers?q=${'x'.repeat(4_000)}`
    const path = `/sign-in/oidc?next=${encodeURIComponent(long)}`
    const led = await come(visitor(), 'ada', provider.browser(), path)
    assert.equal(led.headers.location, '/dashboard/servers')
  })

  test('with OIDC_AUTO the sign-in page leads to the provider, and signing out stays here', async (t) => {
    const { visitor, arrived } = await startSite(t, open, {
      provided: { signUp: 'open', isAutomatic: true },
    })
    const asked = await visitor().get('/sign-in?next=%2Fdashboard%2Fapi')
    assert.equal(asked.headers.location, '/sign-in/oidc?next=%2Fdashboard%2Fapi')
    const person = await arrived('ada')
    const left = await person.submit('/sign-out')
    assert.equal(titleOf(left), 'Sign in')
  })
}
