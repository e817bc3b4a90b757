import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { intercept } from '../intercept.ts'
import { ask } from '../../fixtures/requests.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * The operator's page, and who sees it.
 */

const OPERATOR = 'ops@example.com'
const PAGE = '/dashboard/operator'

test('an operator sees health, keys by last use, unused keys and the audit log', async (t) => {
  const { signedIn, visitor, apiPort } = await startDashboard(t, { operators: [OPERATOR] })
  const { person } = await signedIn(OPERATOR)
  const { person: ada } = await signedIn('ada@example.com')
  assert.match((await person.get(PAGE)).body, /No program has used a key yet\./)
  const key = await ada.issue('Discord bot')
  await ada.issue('never used')
  await ask(apiPort, { key })
  await visitor().signIn('ada@example.com', 'not this one')

  const { status, body } = await person.get(PAGE)
  assert.equal(status, 200)
  assert.match(body, /Database answers in \d+ ms<\/span>/)
  assert.match(body, /1\.2\.3/)
  assert.match(body, /SQLite 3\.\d+\.\d+, [\d.]+ MB/)
  assert.match(body, /Keys by last use <span class="hint">2<\/span>/)
  assert.match(body, /<bdi>Discord bot<\/bdi><\/td><td><a href=[^>]+><bdi>ada@example\.com<\/bdi>/)
  assert.doesNotMatch(/id="keys".*id="users"/s.exec(body)?.[0] ?? '', /never used/)
  assert.match(body, /Users <span class="hint">2<\/span>/)
  assert.match(body, /Keys unused for 90 days <span class="hint">0<\/span>/)
  assert.match(body, /ada@example\.com<\/bdi><\/a><\/td><td>Issued the key <bdi>Discord bot<\/bdi>/)
  assert.match(body, /Wrong password for <bdi>ada@example\.com<\/bdi>/)
  assert.ok(!body.includes(key.slice(16)))
})

test('for other users the page does not exist, and no page links to it', async (t) => {
  const { signedIn, visitor } = await startDashboard(t, { operators: [OPERATOR] })
  const { person: ada } = await signedIn('ada@example.com')
  const answer = await ada.get(PAGE)
  const missing = await ada.get(`/dashboard/${randomUUID()}`)
  assert.deepEqual([answer.status, answer.body], [404, missing.body])
  assert.doesNotMatch((await ada.get('/dashboard/account')).body, /dashboard\/operator/)
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

test('an operator who changes the email address is told before and after how to keep the page', async (t) => {
  const { signedIn } = await startDashboard(t, { operators: [OPERATOR] })
  const { person: ada } = await signedIn('ada@example.com')
  assert.doesNotMatch((await ada.get('/dashboard/account')).body, /OPERATORS/)
  const { person } = await signedIn(OPERATOR)
  const warning = /After a change you no longer see the operator’s page, and you can’t change back/
  assert.match((await person.get('/dashboard/account')).body, warning)
  const change = { email: 'grace@example.com', password: PASSWORD }
  const { body } = await person.submit('/dashboard/account/email', change)
  assert.match(body, /put the new address into OPERATORS and restart the service\.<\/div>/)
  assert.doesNotMatch(body, warning)
  assert.equal((await person.get(PAGE)).status, 404)
  const back = await person.post('/dashboard/account/email', { ...change, email: OPERATOR })
  assert.match(back.body, /This email address is taken, or reserved for an operator\./)
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
