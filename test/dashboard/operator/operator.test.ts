import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { intercept } from '../intercept.ts'
import { issueSignInLink } from '../../../src/accounts/records/issued-links.ts'
import { createUser } from '../../../src/accounts/user.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The operator's page, and who sees it.
 */

const OPERATOR = 'ops@example.com'
const PAGE = '/dashboard/operator'

test('for other users the page does not exist, and no page links to it', async (t) => {
  const { signedIn, visitor } = await startDashboard(t, { operators: [OPERATOR] })
  const { person: ada } = await signedIn('ada@example.com')
  const answer = await ada.get(PAGE)
  const missing = await ada.get(`/dashboard/${randomUUID()}`)
  assert.deepEqual([answer.status, answer.body], [404, missing.body])
  assert.doesNotMatch((await ada.get('/dashboard/account')).body, /dashboard\/operator|OPERATORS/)
  assert.equal((await visitor().get(PAGE)).status, 303)
  const { person } = await signedIn(OPERATOR)
  assert.match((await person.get('/dashboard/account')).body, /href="\/dashboard\/operator"/)
})

test('an operator whose address changes while a request waits is no operator any more', async (t) => {
  const { signedIn, store } = await startDashboard(t, { operators: [OPERATOR] })
  const { person, user } = await signedIn(OPERATOR)
  let isPaused = false
  const gate = Promise.withResolvers<void>()
  const entered = Promise.withResolvers<void>()
  const read = Promise.withResolvers<void>()
  intercept(store.database, {
    async before([text = '']) {
      if (text !== store.database.dialect.databaseFacts.texts[0]) return
      entered.resolve()
      await gate.promise
    },
    after([text = '']) {
      if (isPaused && text.includes('FROM sessions')) read.resolve()
    },
  })
  const first = person.get(PAGE)
  await entered.promise
  isPaused = true
  const second = person.get(PAGE)
  await read.promise
  const hash = await recordsOf(store).findPasswordHash(user.id)
  assert.equal(
    await recordsOf(store).changeEmail(
      user.id,
      hash!,
      'ada@example.com',
      operatorAt(presentInstant()),
    ),
    'changed',
  )
  // By now the second request waits behind the first.
  await setImmediate()
  gate.resolve()
  assert.equal((await first).status, 200)
  const { status, body } = await second
  assert.equal(status, 404)
  assert.match(body, /ada@example\.com/)
  assert.doesNotMatch(body, /dashboard\/operator/)
})

test('no visitor or user can take the address of an operator', async (t) => {
  const { signedIn, visitor, store } = await startDashboard(t, { operators: [OPERATOR] })
  const eve = visitor()
  const form = { email: 'OPS@example.com', password: PASSWORD }
  const refused = await eve.post('/sign-up', form)
  assert.equal(refused.status, 422)
  await signedIn('bob@example.com')
  const taken = await eve.post('/sign-up', { ...form, email: 'bob@example.com' })
  assert.equal(refused.body.replaceAll(form.email, 'bob@example.com'), taken.body)

  const { person: ada } = await signedIn('ada@example.com')
  const change = { email: OPERATOR, password: PASSWORD }
  const changed = await ada.post('/dashboard/account/email', change)
  const used = await ada.post('/dashboard/account/email', { ...change, email: 'bob@example.com' })
  const reason = /id="email-error">This email address is taken, or reserved for an operator\./
  for (const { body } of [refused, taken, changed, used]) assert.match(body, reason)
  assert.equal(await recordsOf(store).findUser(OPERATOR), null)
})

test('the setup link creates the account of an operator', async (t) => {
  const { store, visitor } = await startDashboard(t, { operators: [OPERATOR] })
  await recordsOf(store).keepSecret('setup', 'token')
  const person = visitor()
  await person.post('/setup/token', { email: OPERATOR, password: PASSWORD })
  assert.equal((await person.get(PAGE)).status, 200)
  const same = { email: OPERATOR, password: PASSWORD }
  assert.equal((await person.post('/dashboard/account/email', same)).status, 303)
})

test('no way makes an operator of a site’s user who has an address of OPERATORS', async (t) => {
  const { store, visitor } = await startDashboard(t, { operators: [OPERATOR] })
  const user = createUser(OPERATOR, '4711')
  await recordsOf(store).insertUser(user, operatorAt(presentInstant()))
  await recordsOf(store).keepSecret('setup', 'token')
  const password = { password: PASSWORD }
  const actor = operatorAt(presentInstant())
  for (const way of [
    async () => '/setup/token',
    async () => (await issueSignInLink(store.database, user.id, 1, actor))!.path,
    async () => '/sign-in',
  ]) {
    const person = visitor()
    assert.equal((await person.post(await way(), { email: OPERATOR, ...password })).status, 303)
    assert.equal((await person.get('/dashboard/account')).status, 200)
    assert.equal((await person.get(PAGE)).status, 404)
    const own = { email: OPERATOR, ...password }
    assert.equal((await person.post('/dashboard/account/email', own)).status, 403)
  }
})
