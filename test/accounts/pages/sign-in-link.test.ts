import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { presentInstant } from '../../../src/model/instant.ts'
import { PASSWORD, startDashboard } from '../../fixtures/dashboard.ts'
import { addUser } from '../../fixtures/service.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

const HOUR_MS = 3_600_000

test('a sign-in link works within its time, and the account page names its use', async (t) => {
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
  const ada = visitor()
  assert.equal((await ada.post('/link/first', { password: PASSWORD })).status, 303)
  assert.match((await ada.get('/dashboard/account')).body, /Set a new password with a sign-in link/)
  await issue('late')
  elapse(HOUR_MS)
  for (const answer of [
    await visitor().get('/link/late'),
    await visitor().post('/link/late', { password: PASSWORD }),
  ])
    assert.equal(answer.status, 404)
  assert.deepEqual(faults, [])
})
