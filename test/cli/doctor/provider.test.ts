import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { CLIENT, startProvider } from '../../fixtures/oidc/provider.ts'
import { commandsIn } from '../command.ts'
import { diagnose } from './findings.ts'

/** What `doctor` finds about a provider that a test changes. */
async function openDoctor(t: TestContext) {
  const [program, provider] = [commandsIn(t), await startProvider(t)]
  const ask = (env: Record<string, string> = {}) =>
    diagnose(program, {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      DASHBOARD_URL: 'http://127.0.0.1:1',
      ...env,
    })
  const describe = (changed: Record<string, unknown>) => {
    provider.after = ({ body }) => Object.assign(body as object, changed)
  }
  return { provider, ask, describe }
}

test('doctor asks the provider about itself, and names the redirect URI', async (t) => {
  const { provider, ask } = await openDoctor(t)
  const { provider: found, redirect_uri } = await ask()
  assert.equal(found!.found, `${provider.issuer} answers, and the clocks agree`)
  assert.equal(found!.state, 'ok')
  assert.equal(
    redirect_uri!.found,
    'the client listing needs the redirect URI http://127.0.0.1:1/sign-in/oidc/callback',
  )
  provider.after = (context) => {
    context.res.sendDate = false
  }
  const { provider: timeless } = await ask()
  assert.equal(timeless!.found, `${provider.issuer} answers, but not what time it is there`)
  const without = await ask({ OIDC_ISSUER: '', OIDC_CLIENT_ID: '', OIDC_CLIENT_SECRET: '' })
  assert.deepEqual([without.provider, without.redirect_uri], [undefined, undefined])
})

test('doctor warns of what the provider does not list', async (t) => {
  const { ask, describe } = await openDoctor(t)
  for (const [changed, expected] of [
    [{ scopes_supported: ['openid'] }, /lists no scope email$/],
    [{ claims_supported: ['sub', 'email'] }, /lists no claim email_verified, without which/],
    [{ prompt_values_supported: ['none'] }, /lists no prompt login, so that/],
    [{ userinfo_endpoint: undefined }, /lists no UserInfo endpoint, so that the ID token/],
  ] as const) {
    describe(changed)
    const { provider: found } = await ask()
    assert.match(found!.found, expected)
    assert.equal(found!.state, 'warning')
  }
  describe({ scopes_supported: ['openid', 'email'] })
  const { provider: grouped } = await ask({ OIDC_OPERATOR_GROUP: 'staff' })
  assert.match(grouped!.found, /lists no scope profile$/)
})

test('doctor blames a description without what each sign-in needs', async (t) => {
  const { ask, describe } = await openDoctor(t)
  for (const name of ['authorization_endpoint', 'token_endpoint']) {
    describe({ [name]: undefined })
    const { provider: found } = await ask()
    assert.match(found!.found, new RegExp(`describes itself without ${name}: `))
    assert.equal(found!.state, 'problem')
  }
})

test('doctor blames wrong settings and clocks, and only warns of a provider that is down', async (t) => {
  const { provider, ask, describe } = await openDoctor(t)
  describe({ issuer: 'https://id.example.com' })
  const { provider: renamed } = await ask()
  assert.match(
    renamed!.found,
    /calls itself "https:\/\/id\.example\.com": set OIDC_ISSUER to that$/,
  )
  assert.equal(renamed!.state, 'problem')

  provider.after = (context) => context.set('Date', new Date(Date.now() - 120_000).toUTCString())
  const { provider: late } = await ask()
  assert.match(late!.found, /its clock differs by more than 60 seconds\. Here it is \d{4}-/)
  assert.equal(late!.state, 'problem')

  provider.after = (context) => {
    context.status = 404
  }
  assert.match((await ask()).provider!.found, /openid-configuration answers 404$/)
  provider.after = (context) => {
    context.body = '<!doctype html><title>Sign in</title>'
  }
  assert.match((await ask()).provider!.found, /openid-configuration does not answer with JSON$/)
  await provider.stop()
  const { provider: down, redirect_uri } = await ask()
  assert.match(down!.found, /cannot sign users in with http:.*: ECONNREFUSED$/)
  assert.equal(down!.state, 'warning')
  assert.equal(redirect_uri!.state, 'ok')
})
