import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { addUser } from '../../fixtures/service.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

const HOUR_MS = 3_600_000

test('opening a sign-in link spends nothing; its form sets a password once', async (t) => {
  const { store, visitor, elapse, faults } = await startDashboard(t, { signUp: 'closed' })
  const { id: userId } = await addUser(store)
  const issue = (token: string) =>
    recordsOf(store).keepSignInLink(
      {
        userId,
        tokenHash: hash('sha256', token, 'hex'),
        expiresAt: presentInstant() + HOUR_MS * 1_000,
      },
      operatorAt(presentInstant()),
    )
  await issue('first')
  for (let opened = 0; opened < 3; opened += 1) {
    const { status, body } = await visitor().get('/link/first')
    assert.equal(status, 200)
    assert.match(body, /signs in <bdi>ada@example\.com<\/bdi>/)
  }
  const short = await visitor().post('/link/first', { password: 'short' })
  assert.equal(short.status, 422)
  assert.match(short.body, /The password must have 10 to 128 characters, not 5/)
  const ada = visitor()
  assert.equal((await ada.post('/link/first', { password: PASSWORD })).status, 303)
  assert.match((await ada.get('/dashboard/account')).body, /Set a new password with a sign-in link/)
  const again = await visitor().post('/link/first', { password: 'another battery' })
  assert.equal(again.status, 404)
  assert.match(again.body, /This link no longer works/)
  assert.equal(
    await visitor()
      .signIn('ada@example.com', PASSWORD)
      .then(({ status }) => status),
    303,
  )

  await issue('late')
  elapse(HOUR_MS)
  for (const path of ['/link/late', '/link/unknown'])
    assert.equal((await visitor().get(path)).status, 404)
  assert.deepEqual(faults, [])
})
