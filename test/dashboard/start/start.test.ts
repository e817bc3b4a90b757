import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENTRY, PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The first visit: where the setup link is, and three steps until a program gets the listing.
 */

/** The titles of the steps on the page, and which of them are done. */
function stepsOf(body: string): [title: string, isDone: boolean][] {
  const steps = body.matchAll(/<li( class="done")?><div><h2>([^<]+)/g)
  return [...steps].map(([, done, title = '']) => [title, done !== undefined])
}

const [ACCOUNT, SERVER, KEY] = [
  'Create your account',
  'Register your first server',
  'Issue an API key and try it',
]

test('a new user sees three steps, which are gone after the last one', async (t) => {
  const { visitor } = await startDashboard(t)
  const person = visitor()
  const account = { email: 'ada@example.com', password: PASSWORD }
  const first = await person.submit('/sign-up', account)
  assert.match(first.body, /<h1>Welcome<\/h1>/)
  assert.deepEqual(stepsOf(first.body), [
    [ACCOUNT, true],
    [SERVER, false],
    [KEY, false],
  ])
  assert.match(first.body, /class="button primary" href="\/dashboard\/servers\/new"/)

  const [, imported = ''] = /href="([^"]+)">Import servers/.exec(first.body) ?? []
  assert.equal((await person.get(imported)).status, 200)
  await person.post('/dashboard/servers/new', { ...ENTRY, form: 'f' })
  const back = await person.get('/dashboard')
  assert.equal(back.headers.location, '/dashboard/start')
  const second = (await person.get('/dashboard/start')).body
  assert.deepEqual(stepsOf(second), [
    [ACCOUNT, true],
    [SERVER, true],
    [KEY, false],
  ])
  assert.match(second, /class="button primary" href="\/dashboard\/api#issue"/)

  await person.issue('bot')
  for (const path of ['/dashboard', '/dashboard/start'])
    assert.equal((await person.get(path)).headers.location, '/dashboard/servers')
})

test('a user with a key and no server sees the second step', async (t) => {
  const { signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  await person.issue('bot')
  const { body } = await person.get('/dashboard/start')
  assert.deepEqual(
    stepsOf(body).map(([, isDone]) => isDone),
    [true, false, true],
  )
})

test('while no account exists, signing in tells where the setup link is', async (t) => {
  const { signedIn, store, visitor } = await startDashboard(t, { signUp: 'closed' })
  const hint = /No account exists yet\. To create the first one, open the setup link in the log/
  const first = (await visitor().get('/sign-in')).body
  assert.match(first, hint)
  assert.doesNotMatch(first, /Ask the operator/)
  await recordsOf(store).keepSecret('setup', 'token')
  const setup = (await visitor().get('/setup/token')).body
  assert.match(setup, /programs read each person’s listing as JSON with an API key/)
  await signedIn()
  const later = (await visitor().get('/sign-in')).body
  assert.doesNotMatch(later, hint)
  assert.match(
    later,
    /Forgot your password\? Ask the operator of this service for a sign-in link\./,
  )
})
