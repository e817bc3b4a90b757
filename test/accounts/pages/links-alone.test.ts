import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { issueSignInLink } from '../../../src/accounts/records/issued-links.ts'
import { createUser } from '../../../src/accounts/user.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { type DashboardSettings, PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Sign-in by links alone: PASSWORDS is off, and there is no identity provider.
 */

const LATE_MS = 11 * 60_000
const SITE = { siteUrl: 'https://lagoon.example', siteName: 'Lagoon' }
const OPERATOR = 'ops@example.com'
const FROM_SITE =
  'Go to <a href="https://lagoon.example/"><bdi>Lagoon</bdi></a>, sign in there, and open its link to this dashboard.'
const FROM_OPERATOR = /Ask the operator of this service for a sign-in link, and open it in this/

async function start(t: TestContext, settings: DashboardSettings = SITE) {
  const dashboard = await startDashboard(t, {
    signUp: 'closed',
    signInByPassword: false,
    operators: [OPERATOR],
    ...settings,
  })
  const { store } = dashboard
  return {
    ...dashboard,
    async add(email: string, externalId: string | null) {
      const user = createUser(email, externalId)
      await recordsOf(store).insertUser(user, operatorAt(presentInstant()))
      return user
    },
    async linkFor(userId: string): Promise<string> {
      const link = await issueSignInLink(store.database, userId, 1, operatorAt(presentInstant()))
      assert.ok(link !== null)
      return link.path
    },
  }
}

test('the page to sign in says where the link comes from, and has no form', async (t) => {
  const contact = 'mailto:ops@lagoon.example'
  for (const [settings, expected] of [
    [SITE, FROM_SITE],
    [{ siteUrl: SITE.siteUrl }, FROM_SITE.replace('Lagoon<', 'lagoon.example<')],
    [{ contact }, `Ask <a href="${contact}">the operator of this service</a> for a sign-in link`],
    [{}, 'Ask the operator of this service for a sign-in link'],
  ] as const) {
    const { visitor } = await start(t, settings)
    const { status, body } = await visitor().get('/sign-in')
    assert.equal(status, 200)
    assert.ok(
      body.includes(`You sign in here with a link, and need no password. ${expected}`),
      body,
    )
    assert.doesNotMatch(body, /<form|type="password"|setup link|Create one|Forgot/)
  }
})

test('no path takes a password or creates an account', async (t) => {
  const { visitor, add, linkFor } = await start(t)
  const ada = visitor()
  await ada.post(await linkFor((await add('ada@example.com', '4711')).id))
  for (const path of [
    '/sign-in',
    '/sign-up',
    '/setup/x',
    '/dashboard/account/email',
    '/dashboard/account/password',
  ])
    assert.equal((await ada.post(path, { password: PASSWORD })).status, 404, path)
  const { body } = await ada.get('/dashboard/account')
  assert.doesNotMatch(body, /password/i)
})

test('a user of the site confirms by a new link, which leads back to the page', async (t) => {
  const { visitor, elapse, add, linkFor, store, faults } = await start(t)
  const user = await add('ada@example.com', '4711')
  const ada = visitor()
  assert.equal((await ada.get('/dashboard/api?name=bot;1')).status, 303)
  await ada.get('/sign-in?next=/dashboard/api?name=bot;1')
  const arrived = await ada.post(await linkFor(user.id))
  assert.equal(arrived.headers.location, '/dashboard/api?name=bot;1')
  await ada.issue('fresh')

  elapse(LATE_MS)
  const from = { 'Sec-Fetch-Site': 'same-origin', Referer: 'https://x.example/dashboard/api' }
  const { status, body } = await ada.post('/dashboard/api', { form: 'f', name: 'late' }, from)
  assert.equal(status, 403)
  assert.ok(
    body.includes(
      `You signed in more than 10 minutes ago. Sign in again to issue a key. ${FROM_SITE} It leads back to this page.`,
    ),
    body,
  )
  const back = await ada.submit(await linkFor(user.id))
  assert.match(back.body, /<h1>API keys/)
  await ada.issue('late')
  assert.equal((await recordsOf(store).listApiKeys(user.id, 0)).length, 2)
  assert.equal((await ada.post(await linkFor(user.id))).headers.location, '/dashboard')
  assert.deepEqual(faults, [])
})

test('a link that is spent says where the next one comes from', async (t) => {
  const { visitor, add, linkFor } = await start(t)
  const path = await linkFor((await add('ada@example.com', '4711')).id)
  const page = await visitor().get(path)
  assert.match(page.body, /This link works once\. It signs in <bdi>ada@example\.com<\/bdi>\./)
  assert.equal((await visitor().post(path)).status, 303)
  for (const answer of [await visitor().get(path), await visitor().post(path)]) {
    assert.equal(answer.status, 404)
    assert.ok(answer.body.includes(`for a limited time. ${FROM_SITE}`), answer.body)
  }
})

test('an operator comes by a link of the command line, and an account of no site by its operator', async (t) => {
  const { visitor, elapse, add, linkFor } = await start(t)
  const { id } = await add('ada@example.com', null)
  const [ops, ada] = [visitor(), visitor()]
  await ops.post(await linkFor((await add(OPERATOR, null)).id))
  await ada.post(await linkFor(id))
  const users = `/dashboard/operator/users/${id}`
  assert.equal((await ops.post(`${users}/sign-out`)).status, 303)
  await ada.post(await linkFor(id))
  elapse(LATE_MS)
  assert.match(
    (await ops.post(`${users}/sign-out`)).body,
    /again to end all sessions\. Make a sign-in link with <code>server-listing user link<\/code>, and/,
  )
  assert.match((await ada.post('/dashboard/api', { form: 'f', name: 'late' })).body, FROM_OPERATOR)
})

test('the cookie of the way back is short and leads to no other site', async (t) => {
  const { add, linkFor, visitor } = await start(t)
  const { id } = await add('ada@example.com', '4711')
  const ada = visitor()
  const long = `/dashboard/servers?q=${'x'.repeat(4_000)}`
  await ada.get(`/sign-in?next=${encodeURIComponent(long)}`)
  assert.equal((await ada.post(await linkFor(id))).headers.location, '/dashboard/servers')
  for (const sent of ['https://x.example/', '//x.example', '/\\x.example', '%ff\u{0}', '']) {
    const eve = visitor()
    const Cookie = `next=${Buffer.from(sent).toString('base64url')}`
    const answer = await eve.post(
      await linkFor(id),
      {},
      { 'Sec-Fetch-Site': 'same-origin', Cookie },
    )
    assert.equal(answer.headers.location, '/dashboard', sent)
  }
})
