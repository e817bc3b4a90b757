import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import { hashToken } from '../../../src/accounts/token.ts'
import { sql, uuid } from '../../../src/database/sql.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { DAY_US, presentInstant } from '../../../src/model/instant.ts'
import { type DashboardSettings, PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { intercept } from '../intercept.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * How an operator finds users and helps them, or ends their access.
 */

const OPERATOR = 'ops@example.com'
const USERS = '/dashboard/operator/users'
/** A session of this age asks for the password again. */
const LATE_MS = 700_000

test('a user who forgot the password is back without a shell', async (t) => {
  const { ops, visitor } = await open(t, { contact: 'mailto:help@example.com' })
  const mia = visitor()
  const signIn = await mia.get('/sign-in')
  assert.match(
    signIn.body,
    /Forgot your password\? Ask <a href="mailto:help@example\.com">the operator of this service<\/a> for a sign-in link\./,
  )
  const path = await find(ops, 'ada@')
  assert.match((await ops.get(path)).body, /href="[^"]*\/link">Create a sign-in link…</)
  const asked = await ops.get(`${path}/link`)
  assert.match(asked.body, /Create a sign-in link for <bdi>ada@example\.com<\/bdi>\?/)
  assert.match(asked.body, /It works once, within 1 hour\./)
  const without = await ops.post(`${path}/link`)
  assert.equal(without.status, 403, 'a fresh session does not make a link without the password')
  assert.match(without.body, />Enter your password to create a sign-in link\.</)
  const made = await ops.post(`${path}/link`, { password: PASSWORD })
  const link = /http:\/\/127\.0\.0\.1:8081(\/link\/[\w-]{43})/.exec(made.body)![1]!
  assert.match(made.body, /This is the only time it is shown/)
  assert.equal((await mia.get(link)).status, 200)
  await mia.post(link, { password: 'another battery of horses' })
  const account = (await mia.get('/dashboard/account')).body
  assert.match(account, /An operator issued a sign-in link<\/td><td><code>operator page<\/code>/)
  assert.doesNotMatch(account, /ops@example\.com/, 'users do not learn who the operators are')
  const own = (await ops.get('/dashboard/account')).body
  assert.match(own, /Issued a sign-in link for <bdi>ada@example\.com<\/bdi><\/td><td><code>127/)
  assert.equal((await mia.get(link)).status, 404)
})

test('an old session needs the password again for each act, and a wrong one changes nothing', async (t) => {
  const { ops, ada, elapse, path } = await open(t)
  elapse(LATE_MS)
  for (const act of ['link', 'sign-out', 'disable', 'enable']) {
    elapse(2_000)
    const without = await ops.post(`${path}/${act}`)
    assert.equal(without.status, 403, act)
    assert.match(without.body, /You signed in more than 10 minutes ago\. Enter your password to/)
    assert.match(without.body, /id="password"/)
    const wrong = await ops.post(`${path}/${act}`, { password: 'not this one' })
    assert.equal(wrong.status, 403, act)
    assert.match(wrong.body, /The password is wrong\./)
  }
  assert.equal((await ada.get('/dashboard/api')).status, 200)
  const done = await ops.submit(`${path}/sign-out`, { password: PASSWORD })
  assert.match(done.body, /The user is signed out everywhere\./)
  assert.equal((await ada.get('/dashboard/api')).status, 303)
})

test('an operator acts on no own account, and makes no link for another operator', async (t) => {
  const { ops, signedIn, store } = await open(t, { operators: [OPERATOR, 'second@example.com'] })
  const { person: second, user } = await signedIn('second@example.com')
  const own = await find(ops, OPERATOR)
  assert.match((await ops.get(own)).body, /This is your own account\. You can’t disable it/)
  for (const act of ['link', 'sign-out', 'disable', 'enable'])
    for (const answer of [await ops.get(`${own}/${act}`), await ops.post(`${own}/${act}`)]) {
      assert.equal(answer.status, 409, act)
      assert.match(answer.body, /Nothing was changed\. This is your own account\./)
    }
  const other = `${USERS}/${user.id}`
  const refused = await ops.post(`${other}/link`)
  assert.equal(refused.status, 409)
  assert.match(refused.body, /This is the account of an operator\. A link would let you act/)
  assert.equal((await ops.post(`${other}/disable`)).status, 303)
  assert.equal((await second.get('/dashboard/operator')).status, 303)
  assert.notEqual((await recordsOf(store).findUserDetails(user.id))!.disabled_at, null)
})

test('an operator who loses the right while a password is checked gets the answer to an unknown page', async (t) => {
  const { ops, ada, store, elapse, path, opsId } = await open(t)
  elapse(LATE_MS)
  const absent = await ada.get(`${USERS}/x`)
  intercept(store.database, {
    async before([text = '']) {
      if (!text.includes('SELECT hash FROM passwords')) return
      await store.database.run(
        sql`UPDATE users SET email = 'gone@example.com' WHERE id = ${uuid(opsId)}`,
      )
    },
  })
  const { status, body } = await ops.post(`${path}/disable`, { password: PASSWORD })
  assert.equal(status, 404)
  assert.match(body, /This page does not exist, or you don’t have access to it\./)
  assert.equal(absent.status, 404)
  assert.equal((await ada.get('/dashboard/api')).status, 200)
})

test('a user who becomes an operator while a password is checked gets no link', async (t) => {
  const { ops, store, path } = await open(t, { operators: [OPERATOR, 'second@example.com'] })
  const id = path.split('/').at(-1)!
  intercept(store.database, {
    async before([text = '']) {
      if (!text.includes('SELECT hash FROM passwords')) return
      const email = 'second@example.com'
      await store.database.run(sql`UPDATE users SET email = ${email} WHERE id = ${uuid(id)}`)
    },
  })
  const { status, body } = await ops.post(`${path}/link`, { password: PASSWORD })
  assert.equal(status, 409)
  assert.match(body, /This is the account of an operator\./)
  assert.doesNotMatch(body, /\/link\/[\w-]{43}/)
})

test('an account without an address gets no link, and the page says why', async (t) => {
  const { ops, store } = await open(t)
  const user = createUser(null, 'player 7')
  await recordsOf(store).insertUser(user, operatorAt(presentInstant()))
  const path = await find(ops, 'PLAYER')
  const { body } = await ops.get(path)
  assert.match(body, /External id<\/dt><dd><bdi>player 7<\/bdi>/)
  assert.match(body, /Sign-in<\/dt><dd>none/)
  const refused = await ops.post(`${path}/link`)
  assert.equal(refused.status, 409)
  assert.match(refused.body, /This account has no email address, which a sign-in link needs\./)
})

test('without passwords, a link begins one session and sets no password', async (t) => {
  const { store, visitor, ops } = await openWithoutPasswords(t)
  const mia = createUser('mia@example.com', '7')
  await recordsOf(store).insertUser(mia, operatorAt(presentInstant()))
  const asked = await ops.get(`${USERS}/${mia.id}/link`)
  assert.match(asked.body, /is signed in for one session\. It sets no password\./)
  const { body } = await ops.post(`${USERS}/${mia.id}/link`)
  assert.match(body, /for one session\. It sets no password\./)
  const person = visitor()
  const link = /(\/link\/[\w-]{43})/.exec(body)![1]!
  assert.equal((await person.post(link)).status, 303)
  assert.equal((await person.get('/dashboard/account')).status, 200)
  assert.equal((await recordsOf(store).findUserDetails(mia.id))!.passwords, 0)
})

test('the list and the operator’s page stay below 50 kB with names of a usual length', async (t) => {
  const { ops, store, opsId } = await open(t)
  for (let index = 0; index < 60; index += 1) {
    const email = index % 2 === 0 ? `member${index}@lagoon.example.com` : null
    const user = createUser(email, `lagoon-${index}`)
    await recordsOf(store).insertUser(user, operatorAt(presentInstant()))
    await recordsOf(store).insertApiKey(
      {
        id: crypto.randomUUID(),
        user_id: user.id,
        name: 'Discord bot',
        prefix: 'svc_live_0123456',
        created_at: 1,
        revoked_at: null,
        last_used_at: null,
      },
      crypto.getRandomValues(new Uint8Array(32)),
      5,
      operatorAt(presentInstant()),
    )
  }
  const page = (await ops.get('/dashboard/operator')).body
  const paths = new Set(page.match(/\/assets\/[\w.-]+/g))
  let assets = 0
  for (const asset of paths) assets += Buffer.byteLength((await ops.get(asset)).body)
  assert.equal(paths.size, 3)
  t.diagnostic(`style sheet, script and icons: ${assets} bytes`)
  const { next, users: found } = await recordsOf(store).searchUsers('lagoon')
  assert.equal(found.length, 50)
  for (const path of [
    '/dashboard/operator',
    `${USERS}?q=lagoon`,
    `${USERS}?before=${next!.created_at}.${next!.id}`,
    `${USERS}/${found[0]!.id}`,
    `${USERS}/${opsId}`,
  ]) {
    const { status, body } = await ops.get(path)
    assert.equal(status, 200, path)
    t.diagnostic(`${path.slice(0, 60)}: ${Buffer.byteLength(body)} bytes`)
    assert.ok(Buffer.byteLength(body) + assets < 50_000, `${path}: ${Buffer.byteLength(body)}`)
  }
})

test('a wrong place in the list counts as none, and any search text gets an answer', async (t) => {
  const { ops } = await open(t)
  const texts = ['%00', '%F0%9F%90%88', '%ED%A0%80', 'a'.repeat(4_000), "'%20OR%201=1", '%25%5F!']
  for (const query of [...texts.map((text) => `q=${text}`), 'before=x', 'before=9.x', 'q=a&q=b'])
    assert.equal((await ops.get(`${USERS}?${query}`)).status, 200, query)
  assert.match((await ops.get(`${USERS}?before=1.${'a'.repeat(36)}`)).body, /No users found/)
})

async function open(t: TestContext, settings: DashboardSettings = {}) {
  const dashboard = await startDashboard(t, { operators: [OPERATOR], ...settings })
  const { person: ops, user: operatorUser } = await dashboard.signedIn(OPERATOR)
  const { person: ada, user } = await dashboard.signedIn('ada@example.com')
  return { ...dashboard, ops, ada, path: `${USERS}/${user.id}`, opsId: operatorUser.id }
}

/** The path of the only user whom the search finds. */
async function find(ops: Awaited<ReturnType<typeof open>>['ops'], text: string): Promise<string> {
  const { body } = await ops.get(`${USERS}?q=${encodeURIComponent(text)}`)
  const paths = body.match(/\/dashboard\/operator\/users\/[0-9a-f-]{36}/g) ?? []
  assert.equal(paths.length, 1, body)
  return paths[0]
}

/** An operator who has signed in by link. */
async function openWithoutPasswords(t: TestContext) {
  const dashboard = await startDashboard(t, { operators: [OPERATOR], signInByPassword: false })
  const user = createUser(OPERATOR)
  await recordsOf(dashboard.store).insertUser(user, operatorAt(presentInstant()))
  const tokenHash = hashToken('token')
  await recordsOf(dashboard.store).keepSignInLink(
    { userId: user.id, tokenHash, expiresAt: presentInstant() + DAY_US },
    operatorAt(presentInstant()),
  )
  const ops = dashboard.visitor()
  assert.equal((await ops.post('/link/token')).status, 303)
  return { ...dashboard, ops }
}
