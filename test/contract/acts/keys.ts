import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addOwner } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from '../keys/claim.ts'
import { applyAll, declare, exported, linesOf, newKey, plan } from './declared.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { formatInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

const iso = (instant: number) => new Date(instant / 1_000).toISOString()

/** Keys of a state file: what is revoked, and what a new key brings along. */
export function stateKeysContract(open: OpenFixture): void {
  test('a revoked key stays revoked, whatever the file says', async (t) => {
    const { store } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    const before = await exported(store)
    await recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(NOW - 5))
    const state = declare(before)
    const planned = await plan(store, state)
    assert.deepEqual(linesOf(planned), [])
    assert.deepEqual(
      planned.plans.flatMap(({ keptRevoked }) => keptRevoked.map(({ of }) => of)),
      [user.email],
    )
    await applyAll(store, state)
    assert.equal((await recordsOf(store).listApiKeys(user.id))[0]!.revoked_at, NOW - 5)
    assert.equal((await claim(store, key)).outcome, 'revoked')
  })

  test('a new key can be revoked already, and has the last use of the file', async (t) => {
    const { store } = await open(t)
    const [used, revoked] = [newKey(), newKey()]
    const state = declare({
      users: [
        {
          email: 'ada@example.com',
          keys: [
            { ...used.fields, last_used_at: iso(NOW - 2_000_000) },
            { ...revoked.fields, revoked_at: iso(NOW - 3_000_000) },
          ],
        },
      ],
    })
    await applyAll(store, state)
    const { put_keys } = await exported(store)
    const byHash = new Map(put_keys.map((key) => [key.key_hash!, key]))
    assert.equal(byHash.get(used.key_hash)!.last_used_at, formatInstant(NOW - 2_000_000))
    assert.equal(byHash.get(revoked.key_hash)!.revoked_at, formatInstant(NOW - 3_000_000))
    assert.equal((await claim(store, revoked.key)).outcome, 'revoked')
  })
}
