import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { startService } from '../../../src/service.ts'
import { personAt } from '../../fixtures/person.ts'
import { PASSWORD, sqliteDatabase, startDashboard } from '../../fixtures/dashboard.ts'

/*
 * SITE_NAME and CONTACT on the pages of the dashboard.
 */

const SITE = { siteName: '<b>Blöcke</b> & "Welten"', contact: 'https://example.com/help?a=1&b=2' }
const SHOWN_NAME = '&lt;b&gt;Blöcke&lt;/b&gt; &amp; &quot;Welten&quot;'
const SHOWN_CONTACT =
  'Need help? Ask the operator: <a href="https://example.com/help?a=1&amp;b=2">example.com/help?a=1&amp;b=2</a>'

test('every page has the name of the site and the contact of its operator', async (t) => {
  const database = await sqliteDatabase(t)
  const { visitor, signedIn } = await startDashboard(t, { database, ...SITE })
  const { person } = await signedIn()
  const foreign = { 'Sec-Fetch-Site': 'cross-site' }
  const fields = { email: 'ada@example.com', password: 'wrong' }
  const pages = {
    200: await visitor().get('/sign-in'),
    401: await visitor().post('/sign-in', fields),
    403: await visitor().post('/sign-in', fields, foreign),
    404: await visitor().get('/nothing'),
    415: await visitor().post(
      '/sign-in',
      {},
      { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' },
    ),
    422: await visitor().post('/sign-up', fields),
    '404 of a link': await visitor().get('/link/x'),
    'the docs': await visitor().get('/docs'),
    'a signed-in user': await person.get('/dashboard/account'),
    503: await broken(),
  }
  async function broken() {
    const other = new DatabaseSync(database.path)
    other.exec('ALTER TABLE api_keys RENAME TO elsewhere')
    const page = await person.get('/dashboard/api')
    other.exec('ALTER TABLE elsewhere RENAME TO api_keys')
    other.close()
    return page
  }
  for (const [name, { status, body }] of Object.entries(pages)) {
    assert.equal(status, Number(/^\d+/.exec(name)?.[0] ?? 200), name)
    assert.ok(body.includes(`· ${SHOWN_NAME}</title>`), name)
    assert.ok(body.includes(`</svg>${SHOWN_NAME}</a>`), name)
    assert.equal(body.split(SHOWN_CONTACT).length, 2, name)
    assert.doesNotMatch(body, /Server listing/, name)
  }
})

test('without them, pages have the name of the program and no contact', async (t) => {
  const { visitor } = await startDashboard(t)
  const { body } = await visitor().get('/sign-in')
  assert.match(body, /<title>Sign in · Server listing<\/title>/)
  assert.doesNotMatch(body, /<footer|Need help/)
})

test('a contact by mail is shown as its address', async (t) => {
  const { visitor } = await startDashboard(t, { contact: "mailto:o'neil@example.com" })
  const { body } = await visitor().signIn('ada@example.com', PASSWORD)
  assert.ok(body.includes('<a href="mailto:o&#39;neil@example.com">o&#39;neil@example.com</a>'))
})

test('an answer without a database names the contact, too', async (t) => {
  const service = await startService({
    store: null,
    problem: new Error('no database'),
    host: '127.0.0.1',
    port: 0,
    log: { fault: () => undefined, http() {} },
    dashboard: {
      port: 0,
      baseUrl: null,
      dashboardUrl: null,
      contact: 'mailto:ops@example.com',
      signUp: 'closed',
      trustedProxies: [],
    },
  })
  t.after(service.close)
  const { status, body } = await personAt(service.dashboardPort).get('/sign-in')
  assert.equal(status, 503)
  assert.match(body, /try again in a moment\. If this lasts, ask the operator: ops@example\.com\n$/)
})
