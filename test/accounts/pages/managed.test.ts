import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPasswords } from '../../../src/accounts/sign-in/passwords.ts'
import { createUser } from '../../../src/accounts/user.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { PASSWORD, startDashboard, type TestDashboard } from '../../fixtures/dashboard.ts'
import { listUsers } from '../../fixtures/service.ts'
import { recordsOf } from '../../fixtures/records.ts'

/*
 * Accounts of the operator's own site, which are those with an external id.
 */

const EMAIL = 'ada@example.com'
const FORMS = {
  '/dashboard/account/email': { email: 'eve@example.com', password: PASSWORD },
  '/dashboard/account/delete': { confirmation: EMAIL, password: PASSWORD },
}

test('a managed account has no forms for its address and its deletion, and a password', async (t) => {
  const site = { siteName: 'Blocks & Co', siteUrl: 'https://example.com/mc' }
  const dashboard = await startDashboard(t, site)
  const person = await managed(dashboard)
  const sentence =
    'This account is managed at <a href="https://example.com/mc/"><bdi>Blocks &amp; Co</bdi></a>. Change its email address or delete it there.'
  const { status, body } = await person.get('/dashboard/account')
  assert.equal(status, 200)
  assert.ok(body.includes(sentence), body)
  assert.doesNotMatch(body, /New email|account\/email|account\/delete|Delete account/)
  assert.match(body, /You sign in as <bdi>ada@example\.com<\/bdi>/)

  const before = await listUsers(dashboard.store)
  for (const page of [
    ...(await Promise.all(
      Object.entries(FORMS).map(([path, fields]) => person.post(path, fields)),
    )),
    await person.get('/dashboard/account/delete'),
  ]) {
    assert.equal(page.status, 403)
    assert.ok(page.body.includes(sentence), page.body)
    assert.match(page.body, /Nothing was changed\./)
  }
  assert.deepEqual(await listUsers(dashboard.store), before)

  const password = { password: PASSWORD, 'new-password': 'another long password' }
  const changed = await person.submit('/dashboard/account/password', password)
  assert.match(changed.body, /Password changed/)
  assert.deepEqual(dashboard.faults, [])
})

test('the sentence about a managed account names what the operator has set', async (t) => {
  for (const [site, shown] of [
    [{}, 'the website that it belongs to'],
    [{ siteName: 'Blocks' }, '<bdi>Blocks</bdi>'],
    [
      { siteUrl: 'https://example.com' },
      '<a href="https://example.com/"><bdi>example.com</bdi></a>',
    ],
  ] as const) {
    const person = await managed(await startDashboard(t, site))
    const { body } = await person.get('/dashboard/account')
    assert.ok(body.includes(`This account is managed at ${shown}. Change its`), body)
  }
})

/** A signed-in user with an external id. */
async function managed({ store, visitor }: TestDashboard) {
  const hash = await createPasswords().hash(PASSWORD)
  await recordsOf(store).insertUserWithPassword(
    createUser(EMAIL, '4711'),
    hash,
    'user added',
    operatorAt(presentInstant()),
  )
  const person = visitor()
  assert.equal((await person.signIn(EMAIL, PASSWORD)).status, 303)
  return person
}
