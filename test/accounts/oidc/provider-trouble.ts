import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/database/sql.ts'
import type { OpenDatabase } from '../../fixtures/dashboard.ts'
import { startSite, type TestSite, titleOf } from '../../fixtures/oidc/site.ts'

const OPEN = { provided: { signUp: 'open' } } as const

/** Each step at which the provider can fail, and each answer that must not sign anyone in. */
export function providerTroubleSuite(open: OpenDatabase): void {
  test('a provider that is down at any step leaves no session and no account', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, visitor, leave, elapse, providerFaults } = site
    const down = /Example⁩ can’t be used/
    await provider.stop()
    const early = await visitor().get('/sign-in/oidc')
    assert.deepEqual([early.status, early.headers['retry-after']], [503, '10'])
    assert.match(titleOf(early), down)
    assert.match(early.body, /href="\/sign-in\?auto=0"/)
    await provider.resume()
    elapse(10_000)

    for (const path of ['/token', '/me']) {
      const person = visitor()
      const back = await provider.browser().visit(await leave(person), 'ada')
      provider.after = (context) => {
        if (context.path === path) context.status = 500
      }
      const failed = await person.get(back)
      assert.equal(failed.status, 503, path)
      assert.match(titleOf(failed), down, path)
      provider.after = null
    }
    const person = visitor()
    const back = await provider.browser().visit(await leave(person), 'ada')
    await provider.stop()
    const late = await person.get(back)
    assert.equal(late.status, 503)
    await assertNothing(site, 'down')
    assert.equal(providerFaults().length, 4)
    for (const fault of providerFaults())
      assert.match(String(fault), /^ProviderFault: cannot sign users in with http:/)

    await provider.resume()
    assert.equal((await person.get(back)).status, 303, 'the same answer works later')
  })

  test('a provider that does not answer within 2 seconds is as good as down', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, visitor, leave, elapse } = site
    for (const step of [/well-known/, /token/, /me$/]) {
      const person = visitor()
      const begun = step.source === 'well-known' ? null : await leave(person)
      const back = begun && (await provider.browser().visit(begun, 'ada'))
      provider.silentAt = step
      const from = performance.now()
      const answer = await person.get(back ?? '/sign-in/oidc')
      assert.equal(answer.status, 503, String(step))
      assert.ok(performance.now() - from > 1_900, String(step))
      provider.silentAt = null
      elapse(10_000)
    }
    await assertNothing(site, 'slow')
  })

  test('a provider can rotate its keys, also between its answer and ours', async (t) => {
    const { provider, visitor, arrived, leave } = await startSite(t, open, OPEN)
    await arrived('ada')
    const person = visitor()
    const back = await provider.browser().visit(await leave(person), 'ada')
    provider.rotate()
    // Its codes went with the keys.
    assert.equal(titleOf(await person.get(back)), 'Start again')
    await arrived('ada')
  })

  test('a clock that differs by more than a minute is named in the log', async (t) => {
    for (const minutes of [-3, 3]) {
      const site = await startSite(t, open, OPEN)
      const { provider, visitor, come, elapse, providerFaults } = site
      elapse(minutes * 60_000)
      const answer = await come(visitor(), 'ada', provider.browser())
      assert.equal(answer.status, 503)
      assert.match(
        String(providerFaults()[0]),
        /its clock differs by more than 60 seconds\. Here it is \d{4}-.*Z, and there \d{4}-.*Z$/,
      )
      await assertNothing(site, `${minutes} minutes`)
      elapse(-minutes * 60_000)
    }
  })

  test('a provider that calls itself by another name signs no user in', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, visitor, elapse, providerFaults } = site
    provider.after = ({ path, body }) => {
      if (path.includes('well-known'))
        Object.assign(body as object, { issuer: 'https://evil.example' })
    }
    assert.equal((await visitor().get('/sign-in/oidc')).status, 503)
    elapse(10_000)
    provider.after = ({ path, body }) => {
      if (path.includes('well-known'))
        Object.assign(body as object, { issuer: `${provider.issuer}/` })
    }
    assert.equal((await visitor().get('/sign-in/oidc')).status, 503)
    assert.match(String(providerFaults()[1]), /calls itself "http:.*\/": set OIDC_ISSUER to that$/)
    await assertNothing(site, 'issuer')
  })

  test('with a wrong client secret the log says that it is the settings', async (t) => {
    const provided = { ...OPEN.provided, clientSecret: 'other' }
    const site = await startSite(t, open, { provided })
    const answer = await site.come(site.visitor(), 'ada', site.provider.browser())
    assert.equal(answer.status, 503)
    assert.match(titleOf(answer), /Example⁩ can’t be used/)
    assert.match(answer.body, /does not fit the settings of this service\..*tell the operator/)
    assert.match(String(site.faults), /secret of the client listing: set OIDC_CLIENT_ID and OIDC_/)
    await assertNothing(site, 'secret')
  })

  test('an answer for another browser, an old one and a repeated one sign no user in', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, visitor, leave, elapse, providerFaults } = site
    const [ada, eve] = [visitor(), visitor()]
    const back = await provider.browser().visit(await leave(ada), 'ada')
    await leave(eve)
    const other = back.replace(/state=[^&]+/, 'state=other')
    const twice = `${back}&state=other`
    const mixedUp = back.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example')
    const withoutIss = back.replace(/&iss=[^&]+/, '')
    for (const [name, person, path] of [
      ['another browser', eve, back],
      ['without a cookie', visitor(), back],
      ['another state', ada, other],
      ['two states', ada, twice],
      ['nothing', ada, '/sign-in/oidc/callback'],
    ] as const) {
      const answer = await person.get(path)
      assert.deepEqual([answer.status, titleOf(answer)], [400, 'Start again'], name)
    }
    for (const path of [mixedUp, withoutIss]) {
      const copy = ada.copy()
      assert.equal(titleOf(await copy.get(path)), 'Start again')
      assert.doesNotMatch(copy.cookie(), /oidc/)
    }
    await assertNothing(site, 'replay')

    assert.equal((await ada.copy().get(back)).status, 303)
    assert.equal(titleOf(await ada.get(back)), 'Start again', 'the code is used up')
    const late = visitor()
    const old = await provider.browser().visit(await leave(late), 'ada')
    elapse(10 * 60_000)
    assert.equal(titleOf(await late.get(old)), 'Start again', 'ten minutes later')
    assert.deepEqual(providerFaults(), [])
  })

  test('of two tabs the last one can finish, and the first is told to start again', async (t) => {
    const { provider, visitor, leave } = await startSite(t, open, OPEN)
    const [person, browser] = [visitor(), provider.browser()]
    const first = await browser.visit(await leave(person), 'ada')
    const second = await browser.visit(await leave(person), 'ada')
    assert.equal(titleOf(await person.get(first)), 'Start again')
    assert.equal((await person.get(second)).status, 303)
    assert.equal(titleOf(await person.get(first)), 'Start again')
  })

  test('an ID token for another nonce, client or issuer signs no user in', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, visitor, come, providerFaults } = site
    provider.after = changeIdToken({ nonce: 'other' })
    assert.equal(titleOf(await come(visitor(), 'ada')), 'Start again')
    assert.deepEqual(providerFaults(), [])
    for (const [changed, code] of [
      [{ nonce: undefined }, 'OAUTH_INVALID_RESPONSE'],
      [{ aud: 'other' }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
      [{ iss: 'https://evil.example' }, 'OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
    ] as const) {
      provider.after = changeIdToken(changed)
      assert.equal((await come(visitor(), 'ada')).status, 503, JSON.stringify(changed))
      assert.ok(String(providerFaults().at(-1)).endsWith(`: ${code}`), code)
    }
    for (const sub of ['', 'x'.repeat(256), 'a\u0000b', 'a\nb', 7]) {
      provider.after = changeIdToken({ sub })
      assert.notEqual((await come(visitor(), 'ada')).status, 303, JSON.stringify(sub))
    }
    await assertNothing(site, 'token')
  })

  test('a person who refuses at the provider is told so, and nothing changes', async (t) => {
    const site = await startSite(t, open, OPEN)
    const answer = await site.come(site.visitor(), 'refuse')
    assert.deepEqual([answer.status, titleOf(answer)], [403, 'Not signed in'])
    assert.doesNotMatch(answer.body, /<b>no/)
    await assertNothing(site, 'refused')
    assert.deepEqual(site.providerFaults(), [])
  })
}

/** Changes the claims of an ID token. Its signature no longer fits, and TLS vouches for it. */
export function changeIdToken(claims: Record<string, unknown>): TestSite['provider']['after'] {
  return ({ path, body }) => {
    const { id_token: token } = (body ?? {}) as { id_token?: string }
    if (path !== '/token' || token === undefined) return
    const [head, payload = '', signature] = token.split('.')
    const changed = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), ...claims }
    const text = Buffer.from(JSON.stringify(changed)).toString('base64url')
    Object.assign(body as object, { id_token: [head, text, signature].join('.') })
  }
}

/** No row of a sign-in. */
export async function assertNothing({ rows }: TestSite, step: string): Promise<void> {
  for (const table of [sql`users`, sql`identities`, sql`sessions`, sql`audit_log`])
    assert.deepEqual(await rows(sql`SELECT * FROM ${table}`), [], step)
}
