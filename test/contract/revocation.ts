import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashApiKey } from '../../src/listing/api-key.ts'
import { addOwner } from '../fixtures/service.ts'
import type { OpenFixture } from './fixture.ts'
import { use } from './use-api-key.ts'

/** Revocation holds from the moment it returns, for every process (spec 3.2, 5.3.5). */
export function revocationContract(open: OpenFixture): void {
  test('a key revoked within the second of its last use is revoked, not too soon', async (t) => {
    const { store } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    assert.equal((await use(store, key)).outcome, 'used')
    assert.ok(await store.revokeApiKey(user.id, keyId, 1))
    assert.deepEqual(await use(store, key), { outcome: 'revoked', apiKeyId: keyId })
  })

  test('a key revoked through another process is refused at once, under load', async (t) => {
    const { store, openSecond, elapse } = await open(t)
    const second = await openSecond()
    for (let round = 0; round < 20; round += 1) {
      const { user, key, keyId } = await addOwner(store, `user${round}@example.com`)
      const before = Array.from({ length: 20 }, () => use(store, key))
      await second.revokeApiKey(user.id, keyId, 1)
      const after = await Promise.all(Array.from({ length: 20 }, () => use(store, key)))
      assert.ok(after.every(({ outcome }) => outcome === 'revoked'))
      await Promise.all(before)
      await elapse(1_000)
    }
    await second.close()
  })

  test('the first revocation counts: a second one changes nothing and returns it', async (t) => {
    const { store } = await open(t)
    const { user, keyId } = await addOwner(store, 'ada@example.com')
    assert.equal((await store.revokeApiKey(user.id, keyId, 1_000))?.revoked_at, 1_000)
    assert.equal((await store.revokeApiKey(user.id, keyId, 2_000))?.revoked_at, 1_000)
  })

  test("another user's key cannot be revoked by its id, and looks like one that never was", async (t) => {
    const { store } = await open(t)
    const { key, keyId } = await addOwner(store, 'ada@example.com')
    const { user: bob } = await addOwner(store, 'bob@example.com')
    assert.equal(await store.revokeApiKey(bob.id, keyId, 1), null)
    assert.equal(await store.revokeApiKey(bob.id, 'nothing', 1), null)
    assert.equal((await use(store, key)).outcome, 'used')
  })

  test('a leaked key is revoked by its hash, whoever owns it', async (t) => {
    const { store } = await open(t)
    const { key, keyId } = await addOwner(store, 'ada@example.com')
    assert.equal((await store.revokeApiKeyByHash(hashApiKey(key), 7))?.id, keyId)
    assert.equal((await use(store, key)).outcome, 'revoked')
    assert.equal(await store.revokeApiKeyByHash(hashApiKey('svc_live_00'), 7), null)
  })

  test("a removed user's keys are unknown at once", async (t) => {
    const { store, openSecond } = await open(t)
    const { key } = await addOwner(store, 'ada@example.com', [
      { name: 'a', address: 'a.example.com' },
    ])
    const second = await openSecond()
    assert.equal((await use(store, key)).outcome, 'used')
    assert.equal(await second.removeUser('ada@example.com'), true)
    assert.equal(await second.removeUser('ada@example.com'), false)
    assert.deepEqual(await use(store, key), { outcome: 'unknown' })
    await second.close()
  })
}
