import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AUDIT_DROPPED, AUDIT_KEPT_US, type AuditEntry } from '../../../src/model/audit.ts'
import { startDashboard } from '../../fixtures/dashboard.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

test('an entry stays for 400 days, and each new entry removes up to ten older ones', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { user } = await signedIn()
  const write = (occurred_at: number) => {
    const entry: AuditEntry = {
      user_id: user.id,
      action: 'key issued',
      subject: 'x',
      address: '192.0.2.1',
      occurred_at,
    }
    return recordsOf(store).writeAudit(entry)
  }
  const count = async () => {
    const entries = await recordsOf(store).listEvents(user.id, 1_000)
    return entries.filter(({ action }) => action === 'key issued').length
  }
  const old = NOW - AUDIT_KEPT_US
  for (let number = 1; number <= AUDIT_DROPPED + 5; number += 1) await write(old - number)
  await write(old)
  assert.equal(await count(), AUDIT_DROPPED + 6)
  await write(NOW)
  assert.equal(await count(), 7)
  await write(NOW)
  assert.equal(await count(), 3, 'the one that is 400 days old to the microsecond stays')
})

test('entries about invitations, which version 0.1.0 wrote, are sentences', async (t) => {
  const { signedIn, store } = await startDashboard(t)
  const { person, user } = await signedIn()
  const entry = { user_id: user.id, subject: 'x', address: '192.0.2.1', occurred_at: NOW }
  for (const action of ['invited', 'of a later version'])
    await recordsOf(store).writeAudit({ ...entry, action: action as AuditEntry['action'] })
  const { body } = await person.get('/dashboard/account')
  assert.match(body, /<td>Invited a person to an organization<\/td>/)
  assert.match(body, /<td>of a later version<\/td>/)
})

test('wrong passwords by strangers don’t push the owner’s events off the page', async (t) => {
  const { signedIn, visitor, elapse } = await startDashboard(t, {
    trustedProxies: ['127.0.0.1'],
  })
  const { person } = await signedIn()
  await person.issue('bot')
  const events = async () => (await person.get('/dashboard/account')).body
  assert.doesNotMatch(await events(), /Wrong passwords/)
  const guess = (index: number) => {
    const headers = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-For': `198.51.100.${index}` }
    const fields = { email: 'ada@example.com', password: 'not this one' }
    return visitor().post('/sign-in', fields, headers)
  }
  for (let index = 1; index <= 22; index += 1) {
    assert.equal((await guess(index)).status, 401)
    // Attempts of one millisecond have no order.
    elapse(1)
  }
  const body = await events()
  assert.match(body, /<td>Issued the key <bdi>bot<\/bdi><\/td>/)
  assert.doesNotMatch(body, /<td>Wrong password/)
  const rows = [...body.matchAll(/<code>198\.51\.100\.(\d+)<\/code><\/td><td[^>]*>1<\/td>/g)]
  const addresses = rows.map(([, last]) => Number(last))
  assert.deepEqual(addresses, [22, 21, 20, 19, 18])
  elapse(86_400_000)
  assert.doesNotMatch(await events(), /Wrong passwords/)
})
