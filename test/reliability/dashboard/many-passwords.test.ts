import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboard } from '../../fixtures/dashboard.ts'

/*
 * Hashing a password is slow on purpose, so the service refuses what it can't hash in time.
 */

test('passwords beyond the hashing queue get a 503, which is not a fault', async (t) => {
  const { visitor, faults } = await startDashboard(t, {
    passwords: 'real',
    trustedProxies: ['127.0.0.1'],
  })
  await visitor().get('/sign-in')
  const statuses = await Promise.all(
    Array.from({ length: 120 }, async (_, index) => {
      const fields = { email: `user${index}@example.com`, password: 'not this one' }
      const headers = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-For': `10.0.0.${index}` }
      return (await visitor().post('/sign-in', fields, headers)).status
    }),
  )
  assert.deepEqual(new Set(statuses), new Set([401, 503]))
  assert.ok(statuses.filter((status) => status === 401).length >= 60)
  assert.deepEqual(faults, [])
})
