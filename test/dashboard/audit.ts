import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AUDIT_DROPPED, AUDIT_KEPT, type AuditEntry } from '../../src/listing/accounts.ts'
import { type OpenDatabase, startDashboard } from '../fixtures/dashboard.ts'

const NOW = 1_800_000_000_000_000

export function auditLog(open: OpenDatabase): void {
  test('an entry stays for 400 days; each that is written takes up to ten older ones with it', async (t) => {
    const { signedIn, store } = await startDashboard(t, open)
    const { user } = await signedIn()
    const write = (occurred_at: number) => {
      const entry: AuditEntry = {
        user_id: user.id,
        action: 'key issued',
        subject: 'x',
        address: '192.0.2.1',
        occurred_at,
      }
      return store.writeAudit(entry)
    }
    const count = async () => {
      const entries = await store.listAudit(user.id, 1_000)
      return entries.filter(({ action }) => action === 'key issued').length
    }
    const old = NOW - AUDIT_KEPT
    for (let number = 1; number <= AUDIT_DROPPED + 5; number += 1) await write(old - number)
    await write(old)
    assert.equal(await count(), AUDIT_DROPPED + 6)
    await write(NOW)
    assert.equal(await count(), 7)
    await write(NOW)
    assert.equal(await count(), 3, 'the one that is 400 days old to the microsecond stays')
  })
}
