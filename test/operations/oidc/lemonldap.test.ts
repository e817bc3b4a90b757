import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from '../../../src/database/sql.ts'
import { sqliteDatabase } from '../../fixtures/dashboard.ts'
import { type SiteSettings, startSiteOf } from '../../fixtures/oidc/site.ts'
import { startLemonldap } from './lemonldap.ts'

/** Within five seconds LemonLDAP::NG answers `prompt=login` without asking for the password. */
const ASKS_AGAIN_AFTER_MS = 6_000

const IDENTITIES = sql`SELECT email, subject FROM users JOIN identities ON user_id = id`

test('a user of LemonLDAP::NG gets an account at the first sign-in, and the same one later', async (t) => {
  const { provider, visitor, come, rows, faults } = await startSite(t)
  const browser = provider.browser()
  for (const person of [visitor(), visitor()]) {
    const arrived = await come(person, 'rtyler', browser)
    assert.equal(arrived.headers.location, '/dashboard', arrived.body)
    assert.match((await person.get('/dashboard/account')).body, /rtyler@badwolf\.org/)
  }
  assert.equal(browser.asked, 1)
  assert.deepEqual(await rows(IDENTITIES), [{ email: 'rtyler@badwolf.org', subject: 'rtyler' }])
  assert.deepEqual(faults, [])
})

test('a group of LemonLDAP::NG makes operators, and nothing else does', async (t) => {
  const { arrived } = await startSite(t, { operatorGroup: 'timelords' })
  const [doctor, rose] = [await arrived('dwho'), await arrived('rtyler')]
  assert.equal((await doctor.get('/dashboard/operator')).status, 200)
  assert.equal((await rose.get('/dashboard/operator')).status, 404)
})

test('an account has no address of LemonLDAP::NG that is not verified', async (t) => {
  const { arrived, rows } = await startSite(t)
  await arrived('msmith')
  assert.deepEqual(await rows(IDENTITIES), [{ email: null, subject: 'msmith' }])
})

test('LemonLDAP::NG asks for the password again before an old session issues a key', async (t) => {
  const { provider, visitor, come, age } = await startSite(t)
  const [person, browser] = [visitor(), provider.browser()]
  await come(person, 'rtyler', browser)
  await age()
  const page = await person.post('/dashboard/api', { name: 'bot' })
  const [, confirm] = /href="(\/sign-in\/oidc\/confirm[^"]+)"/.exec(page.body) ?? []
  assert.ok(confirm !== undefined, page.body)
  assert.equal((await come(person, 'dwho', provider.browser(), confirm)).status, 403)
  await assert.rejects(person.issue('bot'))

  await delay(ASKS_AGAIN_AFTER_MS)
  const back = await come(person, 'rtyler', browser, confirm)
  assert.equal(back.headers.location, '/dashboard/api', back.body)
  assert.equal(browser.asked, 2)
  assert.match(await person.issue('bot'), /^svc_live_/)
})

test('without the slash of the issuer, the log says how LemonLDAP::NG calls itself', async (t) => {
  const provider = await startLemonldap(t)
  const issuer = provider.issuer.slice(0, -1)
  const { visitor, faults } = await startSiteOf(provider, t, sqliteDatabase, {
    provided: { issuer },
  })
  assert.equal((await visitor().get('/sign-in/oidc')).status, 503)
  assert.deepEqual(faults.map(String), [
    `ProviderFault: the provider at ${issuer} calls itself "${issuer}/": set OIDC_ISSUER to that`,
  ])
})

test('with a wrong client secret the log says that LemonLDAP::NG does not accept it', async (t) => {
  const { provider, visitor, come, rows, faults } = await startSite(t, { clientSecret: 'wrong' })
  const answer = await come(visitor(), 'rtyler')
  assert.equal(answer.status, 503)
  assert.match(
    answer.body,
    /<bdi>Example<\/bdi> does not answer as it should, or does not fit the settings/,
  )
  assert.deepEqual(faults.map(String), [
    `ProviderFault: ${provider.issuer} does not accept the secret of the client ` +
      `${provider.client.id}: set OIDC_CLIENT_ID and OIDC_CLIENT_SECRET_FILE to what it has`,
  ])
  assert.deepEqual(await rows(IDENTITIES), [])
})

async function startSite(t: TestContext, provided: SiteSettings['provided'] = {}) {
  const settings = { provided: { signUp: 'open' as const, ...provided } }
  return startSiteOf(await startLemonldap(t), t, sqliteDatabase, settings)
}
