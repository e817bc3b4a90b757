import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PASSWORD, sqliteDatabase, startDashboard } from '../../fixtures/dashboard.ts'
import { exchange } from '../../fixtures/person.ts'
import { type Dump, sqliteTables } from '../../reliability/fault-injection/tables.ts'

/*
 * How long a session lasts, what the store has of it, and its cookie.
 */

const EMAIL = 'ada@example.com'
const WEEK_MS = 7 * 86_400_000

test('a copy of the database is not enough to sign in', async (t) => {
  const { database, dashboard } = await startOnKnown(t)
  const { person } = await dashboard.signedIn()
  const [, token = ''] = /^session=([\w-]{32,})/.exec(person.cookie()) ?? []
  assert.notEqual(token, '')
  const texts = [...(await dumpOf(database)).values()].flat()
  assert.ok(texts.every((row) => !row.includes(token)))
  const values = texts.flatMap((row) => Object.values<unknown>(JSON.parse(row)))
  assert.ok(values.length > 20)
  for (const value of new Set(values.map(String))) {
    const headers = { Cookie: `session=${value.replace(/[^\x21-\x7e]/g, '')}` }
    const { status } = await exchange(dashboard.port, 'GET', '/dashboard/api', headers)
    assert.equal(status, 303, value)
  }
})

test('a cookie of the same name from another port does not hide the session', async (t) => {
  const { port, signedIn } = await startDashboard(t)
  const { person } = await signedIn()
  const foreign = ['session=x', `session=${'y'.repeat(43)}`]
  for (const line of [
    [...foreign, person.cookie()],
    [person.cookie(), ...foreign],
  ]) {
    const headers = { Cookie: line.join('; ') }
    assert.equal((await exchange(port, 'GET', '/dashboard/api', headers)).status, 200)
  }
})

test('signing out ends every session in the browser’s cookies', async (t) => {
  const { port, signedIn, visitor } = await startDashboard(t)
  const { person } = await signedIn()
  const other = visitor()
  await other.signIn(EMAIL, PASSWORD)
  const headers = { Cookie: `${person.cookie()}; ${other.cookie()}` }
  const form = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Sec-Fetch-Site': 'same-origin',
  }
  const { status } = await exchange(port, 'POST', '/sign-out', { ...form, ...headers })
  assert.equal(status, 303)
  for (const one of [person, other]) assert.equal((await one.get('/dashboard/api')).status, 303)
})

test('a session lasts seven days however often it is used, and a later sign-in removes its row', async (t) => {
  const { database, dashboard } = await startOnKnown(t)
  const { person } = await dashboard.signedIn()
  const sessions = async () => (await dumpOf(database)).get('sessions')!
  dashboard.elapse(WEEK_MS - 60_000)
  assert.equal((await person.get('/dashboard/api')).status, 200)
  dashboard.elapse(60_000)
  assert.equal((await person.get('/dashboard/api')).status, 303)
  assert.equal((await sessions()).length, 1)
  const { person: bob } = await dashboard.signedIn('bob@example.com')
  assert.equal((await sessions()).length, 1)
  assert.equal((await bob.get('/dashboard/api')).status, 200)
})

test('the store keeps 256 characters of a browser’s User-Agent', async (t) => {
  const { database, dashboard } = await startOnKnown(t)
  await dashboard.signedIn()
  const fields = new URLSearchParams({ email: EMAIL, password: PASSWORD })
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Sec-Fetch-Site': 'same-origin',
    'User-Agent': `Browser ${'x'.repeat(20_000)}`,
  }
  const sent = [dashboard.port, 'POST', '/sign-in', headers, fields.toString()] as const
  assert.equal((await exchange(...sent)).status, 303)
  const rows = (await dumpOf(database)).get('sessions')!.map((row) => JSON.parse(row))
  const names = rows.map(({ user_agent }) => String(user_agent)).toSorted()
  assert.deepEqual(names, ['', `Browser ${'x'.repeat(248)}`])
})

async function startOnKnown(t: TestContext) {
  const database = await sqliteDatabase(t)
  return { database, dashboard: await startDashboard(t, { database }) }
}

/** All rows of all tables. */
async function dumpOf({ path }: { path: string }): Promise<Dump> {
  const tables = sqliteTables(path)
  try {
    return await tables.dump()
  } finally {
    await tables.close()
  }
}
