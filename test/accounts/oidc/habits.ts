import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import { sql } from '../../../src/database/sql.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import type { OpenDatabase } from '../../fixtures/dashboard.ts'
import { startSite, type TestSite, titleOf } from '../../fixtures/oidc/site.ts'
import { changeIdToken } from './provider-trouble.ts'
import { recordsOf } from '../../fixtures/records.ts'

const EMAIL = 'ada@example.com'
const OPERATOR = operatorAt(presentInstant())
const CONFIRM = '/sign-in/oidc/confirm?next=%2Fdashboard%2Fapi'

/** What a provider does that the specification leaves open. */
interface Habits {
  /** What its description of itself has, or lacks. */
  description?: Record<string, unknown>
  idToken?: Record<string, unknown>
  userInfo?: Record<string, unknown>
  /** The end of a first sign-in, if an account without a way in has the address. */
  end: 'linked' | 'address missing' | 'address not verified'
}

/** As the vendors' pages and their users' reports have them: docs/site-sign-in.md. */
const PROVIDERS: Record<string, Habits> = {
  Google: {
    description: { scopes_supported: ['openid', 'email', 'profile'] },
    idToken: { email: EMAIL, email_verified: true },
    userInfo: { email: EMAIL, email_verified: true },
    end: 'linked',
  },
  // Its ID tokens have no claim but the subject.
  Discord: {
    description: { userinfo_endpoint: undefined, prompt_values_supported: ['none', 'consent'] },
    end: 'address missing',
  },
  'a provider without UserInfo': {
    description: { userinfo_endpoint: undefined },
    idToken: { email: EMAIL, email_verified: true },
    end: 'linked',
  },
  'a provider without UserInfo or a verified address': {
    description: { userinfo_endpoint: undefined },
    idToken: { email: EMAIL, email_verified: false },
    end: 'address not verified',
  },
  'Authentik without a scope mapping': {
    userInfo: { email: EMAIL, email_verified: false, groups: [] },
    end: 'address not verified',
  },
  'Keycloak, "Email verified" off': {
    userInfo: { email: EMAIL, email_verified: false },
    end: 'address not verified',
  },
  'Keycloak, a user without an address': {
    userInfo: { email_verified: false },
    end: 'address missing',
  },
  Auth0: { userInfo: { email: EMAIL, email_verified: true }, end: 'linked' },
  Entra: {
    description: { scopes_supported: ['openid', 'profile', 'email', 'offline_access'] },
    idToken: { email: EMAIL },
    userInfo: { email: EMAIL },
    end: 'address not verified',
  },
  'a provider that sends texts': {
    userInfo: { email: EMAIL, email_verified: 'true' },
    end: 'address not verified',
  },
  'a provider whose UserInfo is not about the address': {
    idToken: { email: EMAIL, email_verified: true },
    userInfo: { email: EMAIL },
    end: 'address not verified',
  },
}

/** Makes the provider of a test have these habits. */
function adopt({ provider }: TestSite, { description, idToken, userInfo }: Habits): void {
  provider.people.ada = {}
  const changeToken = changeIdToken(idToken ?? {})
  provider.after = (context) => {
    changeToken?.(context)
    const { path, body } = context
    if (path.includes('well-known')) Object.assign(body as object, description)
    if (path === '/me') Object.assign(body as object, userInfo)
  }
}

/** Providers with habits of their own. */
export function habitsSuite(open: OpenDatabase): void {
  test('each provider links an address that it calls verified, and no other', async (t) => {
    for (const [name, habits] of Object.entries(PROVIDERS)) {
      const site = await startSite(t, open)
      await recordsOf(site.store).insertUser(createUser(EMAIL), OPERATOR)
      adopt(site, habits)
      const answer = await site.come(site.visitor(), 'ada')
      const refused = await site.rows(
        sql`SELECT subject FROM audit_log WHERE action = 'identity refused'`,
      )
      const noted = refused[0]?.subject as string | undefined
      const [reason] = (noted ?? 'linked').split(':')
      assert.equal(reason, habits.end, `${name}: ${answer.body}`)
      assert.equal(answer.status, habits.end === 'linked' ? 303 : 403, name)
      await site.close()
    }
  })

  test('a provider that lists no prompt=login gets none, and must send auth_time', async (t) => {
    const site = await startSite(t, open, { provided: { signUp: 'open' } })
    const { provider, arrived, age, come, leave } = site
    const description = { prompt_values_supported: ['none', 'consent', 'select_account'] }
    adopt(site, { description, end: 'linked' })
    const person = await arrived('ada')
    await age()
    const url = new URL(await leave(person.copy(), CONFIRM))
    assert.equal(url.searchParams.get('prompt'), null)
    assert.equal(url.searchParams.get('max_age'), '0')

    adopt(site, { description, idToken: { auth_time: undefined }, end: 'linked' })
    const browser = provider.browser()
    const refused = await come(person, 'ada', browser, CONFIRM)
    assert.match(refused.body, /did not ask you to sign in again.* sign out here and at <bdi>Exa/)
    adopt(site, { description, end: 'linked' })
    assert.equal((await come(person, 'ada', browser, CONFIRM)).status, 303)
    await person.issue('bot')
  })

  test('where a provider knows no prompt=login, signing out and in again confirms', async (t) => {
    const { provider, arrived, age, come, leave, visitor } = await startSite(t, open, {
      provided: { signUp: 'open' },
    })
    const person = await arrived('ada')
    await age()
    const page = await person.post('/dashboard/api', { name: 'bot' })
    const way =
      /<bdi>Example<\/bdi> shows an error instead, sign out here and at <bdi>Example<\/bdi>/
    assert.match(page.body, way)
    const state = new URL(await leave(person, CONFIRM)).searchParams.get('state')
    const iss = encodeURIComponent(provider.issuer)
    const query = `error=invalid_request&state=${state}&iss=${iss}`
    const answer = await person.get(`/sign-in/oidc/callback?${query}`)
    assert.match(answer.body, /sign out here and at <bdi>Example<\/bdi>, and sign in again/)
    await assert.rejects(person.issue('bot'))

    const left = await person.submit('/sign-out')
    assert.equal(titleOf(left), 'Sign in')
    assert.match(left.body, /you are still signed in there/)
    assert.equal((await come(person, 'ada')).status, 303)
    await person.issue('bot')
    assert.doesNotMatch((await visitor().get('/sign-in')).body, /still signed in/)
  })

  test('signing out says that the session at the provider goes on, to its users only', async (t) => {
    const { arrived, signedIn } = await startSite(t, open, {
      provided: { signUp: 'open', isAutomatic: true },
    })
    const text =
      /You are signed out here\. If you signed in with <bdi>Example<\/bdi>, you are still/
    const everywhere = await (await arrived('max')).submit('/dashboard/account/sessions')
    assert.match(everywhere.body, text)
    const { person } = await signedIn('bob@example.com')
    assert.doesNotMatch((await person.submit('/sign-out')).body, /still signed in/)
  })
}
