import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  AUDIT_DROPPED,
  AUDIT_KEPT_US,
  type AuditEntry,
  operatorAt,
  REFUSED_COUNTED_MAX,
} from '../../../src/model/audit.ts'
import { addUser } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { audit } from '../../../src/accounts/records/audit.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'
import { presentInstant } from '../../../src/model/instant.ts'

const entry = (user_id: string | null, occurred_at: number): AuditEntry => ({
  user_id,
  action: 'sign-in',
  subject: `at ${occurred_at}`,
  address: '192.0.2.1',
  occurred_at,
})

const refused = (user_id: string, occurred_at: number, address = '192.0.2.1'): AuditEntry => ({
  ...entry(user_id, occurred_at),
  action: 'sign-in refused',
  address,
})

export function auditContract(open: OpenFixture): void {
  test("a user's latest entries are listed unchanged, newest first", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = [randomUUID(), randomUUID()]
    const entries = [NOW + 1, NOW + 3, NOW, NOW + 2].map((instant) => entry(ada, instant))
    for (const one of [...entries, entry(bob, NOW), entry(null, NOW)])
      await recordsOf(store).writeAudit(one)
    const newestFirst = entries.toSorted((a, b) => b.occurred_at - a.occurred_at)
    assert.deepEqual(await recordsOf(store).listEvents(ada, 100), newestFirst)
    assert.deepEqual(await recordsOf(store).listEvents(ada, 4), newestFirst)
    assert.deepEqual(await recordsOf(store).listEvents(ada, 3), newestFirst.slice(0, 3))
    assert.deepEqual(await recordsOf(store).listEvents(bob, 3), [entry(bob, NOW)])
    assert.deepEqual(await recordsOf(store).listEvents(randomUUID(), 3), [])
  })

  test('entries of a removed user stay', async (t) => {
    const { store } = await open(t)
    const user = await addUser(store)
    const now = presentInstant()
    await recordsOf(store).writeAudit(entry(user.id, now))
    await removeUser(store.database, user.id, operatorAt(now))
    const actions = (await recordsOf(store).listEvents(user.id, 9)).map(({ action }) => action)
    assert.deepEqual(actions, ['user removed', 'sign-in', 'user added'])
  })

  test('an entry is kept for AUDIT_KEPT_US, to the microsecond', async (t) => {
    const { store } = await open(t)
    const ada = randomUUID()
    await recordsOf(store).writeAudit(entry(ada, NOW - AUDIT_KEPT_US))
    await recordsOf(store).writeAudit(entry(ada, NOW - AUDIT_KEPT_US - 1))
    assert.equal((await recordsOf(store).listEvents(ada, 9)).length, 2)
    await recordsOf(store).writeAudit(entry(null, NOW))
    assert.deepEqual(await recordsOf(store).listEvents(ada, 9), [entry(ada, NOW - AUDIT_KEPT_US)])
  })

  test('a new entry deletes at most the ten oldest expired ones', async (t) => {
    const { store } = await open(t)
    const ada = randomUUID()
    const old = Array.from({ length: AUDIT_DROPPED + 2 }, (_, index) => entry(ada, index))
    for (const one of old.toReversed()) await recordsOf(store).writeAudit(one)
    await recordsOf(store).writeAudit(entry(null, NOW))
    assert.deepEqual(
      await recordsOf(store).listEvents(ada, 100),
      old.slice(AUDIT_DROPPED).toReversed(),
    )
    await recordsOf(store).writeAudit(entry(null, NOW))
    assert.deepEqual(await recordsOf(store).listEvents(ada, 100), [])
  })

  test('entries written at once are all kept, and expired ones are deleted', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, old] = [randomUUID(), randomUUID()]
    for (let index = 0; index < 3 * AUDIT_DROPPED; index += 1)
      await recordsOf(store).writeAudit(entry(old, index))
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        audit((index % 2 === 0 ? store : second).database).writeAudit(entry(ada, NOW + index)),
      ),
    )
    assert.equal((await recordsOf(store).listEvents(ada, 100)).length, 20)
    assert.deepEqual(await recordsOf(store).listEvents(old, 100), [])
  })

  refusedSignInsContract(open)
}

function refusedSignInsContract(open: OpenFixture): void {
  test('refused sign-ins are counted from an instant on, and are not events', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = [randomUUID(), randomUUID()]
    for (const one of [
      refused(ada, NOW + 2, '192.0.2.2'),
      refused(ada, NOW),
      refused(ada, NOW - 1),
      refused(bob, NOW + 9),
      entry(ada, NOW + 5),
    ])
      await recordsOf(store).writeAudit(one)
    const [first, second] = ['192.0.2.1', '192.0.2.2']
    const latest = { address: second, count: 1, occurred_at: NOW + 2 }
    const earlier = { address: first, count: 1, occurred_at: NOW }
    assert.deepEqual(await recordsOf(store).listRefusedSignIns(ada, NOW, 9), [latest, earlier])
    const both = { ...earlier, count: 2 }
    assert.deepEqual(await recordsOf(store).listRefusedSignIns(ada, NOW - 1, 9), [latest, both])
    assert.deepEqual(await recordsOf(store).listRefusedSignIns(ada, NOW - 1, 1), [latest])
    assert.deepEqual(await recordsOf(store).listRefusedSignIns(ada, NOW + 2, 9), [latest])
    assert.deepEqual(await recordsOf(store).listRefusedSignIns(ada, NOW + 3, 9), [])
    assert.deepEqual(await recordsOf(store).listEvents(ada, 9), [entry(ada, NOW + 5)])
    assert.deepEqual(await recordsOf(store).listEvents(bob, 9), [])
  })

  test('refused sign-ins are counted up to REFUSED_COUNTED_MAX', async (t) => {
    const { store, execute } = await open(t)
    const ada = randomUUID()
    await recordsOf(store).writeAudit(refused(ada, NOW))
    // One statement, because as many calls take a second.
    const instant = '(SELECT occurred_at FROM audit_log LIMIT 1)'
    const rows = Array.from(
      { length: REFUSED_COUNTED_MAX - 1 },
      () => `('${randomUUID()}', ${instant}, '${ada}', 'sign-in refused', '', '192.0.2.1')`,
    )
    await execute(
      `INSERT INTO audit_log (id, occurred_at, user_id, action, subject, address) VALUES ${rows.join()}`,
    )
    const counted = { address: '192.0.2.1', count: REFUSED_COUNTED_MAX, occurred_at: NOW }
    assert.deepEqual(await recordsOf(store).listRefusedSignIns(ada, NOW, 9), [counted])
    await recordsOf(store).writeAudit(refused(ada, NOW + 1))
    const latest = { ...counted, occurred_at: NOW + 1 }
    assert.deepEqual(await recordsOf(store).listRefusedSignIns(ada, NOW, 9), [latest])
  })
}
