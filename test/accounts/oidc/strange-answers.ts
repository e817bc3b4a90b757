import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenDatabase } from '../../fixtures/dashboard.ts'
import { startSite, titleOf } from '../../fixtures/oidc/site.ts'
import { assertNothing } from './provider-trouble.ts'

const OPEN = { provided: { signUp: 'open' } } as const

/** A provider whose answers lack an end or what they must have, or that has just gone. */
export function strangeAnswersSuite(open: OpenDatabase): void {
  test('a provider that has just gone down ends on our page, and visitors at one time ask it once', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, visitor, elapse, providerFaults } = site
    await Promise.all(Array.from({ length: 20 }, () => visitor().get('/sign-in/oidc')))
    assert.equal(provider.described, 1)
    await provider.stop()
    elapse(10_000)
    const fail = async () =>
      assert.match(titleOf(await visitor().get('/sign-in/oidc')), /Example⁩ can’t be used/)
    await fail()
    const { described } = provider
    // It answers again, but the failure is kept for ten seconds.
    await provider.resume()
    await fail()
    assert.equal(provider.described, described)
    // The log has one line for one object that lasts.
    const [first, second] = providerFaults()
    assert.ok(first !== undefined && first === second)
    // An operator may set the clock back.
    elapse(-20_000)
    assert.equal((await visitor().get('/sign-in/oidc')).status, 303)
    await provider.stop()
    elapse(10_000)
    await fail()
    assert.notEqual(providerFaults().at(-1), first)
  })

  test('an answer without an end takes at most 1 MB and 2 seconds', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, visitor, leave, elapse, providerFaults } = site
    for (const step of [/well-known/, /token/, /me$/])
      for (const pauseMs of step.source === 'token' ? [0, 50] : [0]) {
        const name = `${step} ${pauseMs}`
        // Both clocks may differ by a minute at most.
        elapse(12_000)
        const person = visitor()
        const begun = step.source === 'well-known' ? null : await leave(person)
        const back = begun && (await provider.browser().visit(begun, 'ada'))
        provider.endless = { at: step, pauseMs }
        const from = performance.now()
        assert.equal((await person.get(back ?? '/sign-in/oidc')).status, 503, name)
        assert.ok(performance.now() - from < 5_000, name)
        provider.endless = null
        // The sockets of both ends hold some more.
        assert.ok(provider.streamed < 20 * 1_048_576, `${name}: ${provider.streamed} bytes`)
        const expected = pauseMs === 0 ? /MORE_THAN_1_MB$/ : /Timeout/i
        assert.match(String(providerFaults().at(-1)), expected, name)
      }
    await assertNothing(site, 'endless')
  })

  test('a description with values of wrong types signs no user in, or does without them', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, visitor, elapse } = site
    for (const [name, value, status] of [
      ['scopes_supported', 5, 303],
      ['scopes_supported', { email: 1 }, 303],
      ['prompt_values_supported', 'none', 303],
      ['authorization_endpoint', 5, 503],
      ['authorization_endpoint', 'javascript:alert(1)', 503],
      ['authorization_endpoint', undefined, 503],
      ['token_endpoint', undefined, 503],
      ['issuer', [provider.issuer], 503],
    ] as const) {
      elapse(10_000)
      provider.after = ({ path, body }) => {
        if (path.includes('well-known')) Object.assign(body as object, { [name]: value })
      }
      const { status: answered, body } = await visitor().get('/sign-in/oidc')
      assert.equal(answered, status, `${name} ${JSON.stringify(value)}: ${body}`)
    }
    for (const fault of site.faults) assert.match(String(fault), /^ProviderFault/)
  })

  test('a sign-in needs no keys of the provider, because TLS protects the ID token', async (t) => {
    const { provider, arrived } = await startSite(t, open, OPEN)
    provider.after = ({ path, body }) => {
      if (path.includes('well-known')) Object.assign(body as object, { jwks_uri: undefined })
    }
    await arrived('ada')
  })

  test('what UserInfo says about another person signs no user in', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, visitor, come, providerFaults } = site
    provider.after = ({ path, body }) => {
      if (path === '/me') Object.assign(body as object, { sub: 'eve' })
    }
    assert.equal((await come(visitor(), 'ada')).status, 503)
    assert.match(String(providerFaults().at(-1)), /: OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED$/)
    await assertNothing(site, 'another person')
  })

  test('an answer that lacks what it must have is the fault of the provider', async (t) => {
    const site = await startSite(t, open, OPEN)
    const { provider, visitor, come, providerFaults } = site
    for (const [step, lacking] of [
      ['/me', 'sub'],
      ['/token', 'access_token'],
      ['/token', 'id_token'],
    ] as const) {
      provider.after = ({ path, body }) => {
        if (path === step) Object.assign(body as object, { [lacking]: undefined })
      }
      assert.equal((await come(visitor(), 'ada')).status, 503, lacking)
      assert.match(String(providerFaults().at(-1)), /: OAUTH_INVALID_RESPONSE$/, lacking)
    }
    await assertNothing(site, 'lacking')
  })
}
