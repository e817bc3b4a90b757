import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stateJson } from '../../../src/listing/state/write-state.ts'
import { addOwner } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from '../keys/claim.ts'
import { NOW } from '../people.ts'
import { applyAll, declare, linesOf, newKey, plan } from './declared.ts'

const iso = (instant: number) => new Date(instant / 1_000).toISOString()

/** Keys of a state file: what is revoked, and what a new key brings along. */
export function stateKeysContract(open: OpenFixture): void {
  test('a revoked key stays revoked, whatever the file says', async (t) => {
    const { store } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    const before = stateJson(await store.readState()) as { users: object[] }
    await store.revokeApiKey(user.id, keyId, NOW - 5)
    const state = declare(before)
    const planned = await plan(store, state)
    assert.deepEqual(linesOf(planned), [])
    assert.deepEqual(
      planned.keptRevoked.map((one) => one.of),
      [user.email],
    )
    await applyAll(store, state, { prune: true })
    assert.equal((await store.listApiKeys(user.id))[0]!.revoked_at, NOW - 5)
    assert.equal((await claim(store, key)).outcome, 'revoked')
  })

  test('a new key can be revoked already, and has the last use of the file', async (t) => {
    const { store } = await open(t)
    const [used, revoked] = [newKey({ last_used_at: NOW - 2_000_000 }), newKey()]
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
    const { keys } = await store.readState()
    const stored = new Map(keys.map(({ hash, ...key }) => [hash, key]))
    assert.equal(stored.get(used.fields.key_hash)!.last_used_at, NOW - 2_000_000)
    assert.equal(stored.get(revoked.fields.key_hash)!.revoked_at, NOW - 3_000_000)
    assert.equal((await claim(store, revoked.key)).outcome, 'revoked')
  })
}
