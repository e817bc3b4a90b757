import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { nameBrowser } from '../../../src/accounts/pages/session-list.ts'
import { PASSWORD, sqliteDatabase, startDashboard } from '../../fixtures/dashboard.ts'

/*
 * The list of sessions on the account page.
 */

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0'
const BROWSERS: Record<string, string> = {
  [FIREFOX]: 'Firefox on Windows',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36':
    'Chrome on Linux',
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36':
    'Chrome on Android',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15':
    'Safari on macOS',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.7339.39 Mobile/15E148 Safari/604.1':
    'Chrome on iOS',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0':
    'Edge on Windows',
  'curl/8.14.1': 'curl',
  '': 'Unknown browser',
  'Some bot': 'Unknown browser',
}

test('a browser is named by its User-Agent', () => {
  for (const [userAgent, name] of Object.entries(BROWSERS))
    assert.equal(nameBrowser(userAgent), name)
})

test('the account page lists the sessions with browser and address, and ends one', async (t) => {
  const { signedIn, visitor } = await startDashboard(t, { trustedProxies: ['127.0.0.1'] })
  const { person } = await signedIn()
  const other = visitor()
  await other.post(
    '/sign-in',
    { email: 'ada@example.com', password: PASSWORD },
    {
      'Sec-Fetch-Site': 'same-origin',
      'User-Agent': FIREFOX,
      'X-Forwarded-For': '198.51.100.7',
    },
  )
  const { body } = await person.get('/dashboard/account')
  assert.match(body, /Firefox on Windows<\/strong>\n<p><code id="f0">198\.51\.100\.7<\/code>/)
  assert.match(body, /Unknown browser<\/strong> <span class="pill good">This browser<\/span>/)
  const [theirs = '', own = ''] = [...body.matchAll(/name="session" value="([^"]+)"/g)].map(
    ([, id = '']) => id,
  )

  const ended = await person.submit('/dashboard/account/sessions', { session: theirs })
  assert.match(ended.body, /Session ended\. Its browser has to sign in again\./)
  assert.match(ended.body, /<td>Ended another session<\/td>/)
  assert.doesNotMatch(ended.body, /Firefox on Windows/)
  assert.equal((await other.get('/dashboard/account')).status, 303)
  assert.equal((await person.get('/dashboard/account')).status, 200)

  const left = await person.post('/dashboard/account/sessions', { session: own })
  assert.equal(left.headers.location, '/sign-in')
  assert.equal(person.cookie(), '')
})

const HOUR_MS = 3_600_000

test('the list tells when each other session was last active, to the hour', async (t) => {
  const { signedIn, elapse, visitor, database } = await withDatabase(t)
  const { person } = await signedIn()
  const other = visitor()
  await other.signIn('ada@example.com', PASSWORD)
  const active = async () =>
    [
      ...(await person.get('/dashboard/account')).body.matchAll(/<span>Active ([^<]*)<\/span>/g),
    ].map(([, words]) => words)
  assert.deepEqual(await active(), ['within the last hour'])
  elapse(2.5 * HOUR_MS)
  assert.deepEqual(await active(), ['2 hours ago'])
  await other.get('/docs')
  assert.deepEqual(await active(), ['within the last hour'])

  const version = () => database.prepare('PRAGMA data_version').get()
  const before = version()
  elapse(0.9 * HOUR_MS)
  for (const page of ['/dashboard/servers', '/dashboard/api', '/docs', '/dashboard/account'])
    assert.equal((await other.get(page)).status, 200)
  assert.deepEqual(version(), before, 'a page within the hour writes nothing')
})

test('a database that can’t store the activity still shows pages', async (t) => {
  const { signedIn, elapse, database, faults } = await withDatabase(t)
  const { person } = await signedIn()
  database.exec(`CREATE TRIGGER full BEFORE UPDATE ON sessions
    BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
  elapse(HOUR_MS)
  assert.equal((await person.get('/dashboard/account')).status, 200)
  assert.match(String(faults[0]), /the disk is full/)
  assert.equal(faults.length, 1)
})

/** A dashboard, and a connection of another program to its database. */
async function withDatabase(t: TestContext) {
  const config = await sqliteDatabase(t)
  const dashboard = await startDashboard(t, { database: config })
  const database = new DatabaseSync(config.path)
  t.after(() => database.close())
  return { ...dashboard, database }
}
