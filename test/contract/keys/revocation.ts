import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { addOwner } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from './claim.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { OPERATOR } from '../people.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { recordsOf, setBanned } from '../../fixtures/records.ts'

/** A revocation holds for every process from the moment that it returns (spec 3.2, 5.3.5). */
export function revocationContract(open: OpenFixture): void {
  test('a key revoked within a second of its last use is revoked, not limited', async (t) => {
    const { store } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    assert.equal((await claim(store, key)).outcome, 'granted')
    assert.ok(await recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(1)))
    const revoked = await claim(store, key)
    assert.ok(revoked.outcome === 'revoked' && revoked.apiKeyId === keyId)
  })

  test('under load, a key revoked by another process is refused at once', async (t) => {
    const { store, openSecond, elapse } = await open(t)
    const second = await openSecond()
    for (let round = 0; round < 20; round += 1) {
      const { user, key, keyId } = await addOwner(store, `user${round}@example.com`)
      const before = Array.from({ length: 20 }, () => claim(store, key))
      await recordsOf(second).revokeApiKey(user.id, keyId, operatorAt(1))
      const after = await Promise.all(Array.from({ length: 20 }, () => claim(store, key)))
      assert.ok(after.every(({ outcome }) => outcome === 'revoked'))
      await Promise.all(before)
      await elapse(1_000)
    }
    await second.close()
  })

  test('the first revocation stays: a second one changes nothing and returns it', async (t) => {
    const { store } = await open(t)
    const { user, keyId } = await addOwner(store, 'ada@example.com')
    assert.equal(
      (await recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(1_000)))?.revoked_at,
      1_000,
    )
    assert.equal(
      (await recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(2_000)))?.revoked_at,
      1_000,
    )
  })

  test('what has ended can be handed over: revoked keys, and users without access', async (t) => {
    const { store } = await open(t)
    const records = recordsOf(store)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    const [{ user: bob }, { user: cem }] = [
      await addOwner(store, 'bob@example.com'),
      await addOwner(store, 'cem@example.com'),
    ]
    await records.revokeApiKey(user.id, keyId, operatorAt(1_000))
    await records.setDisabled(bob.id, true, OPERATOR)
    await setBanned(store, cem.id, 1_000)
    const listed = new Map<string, number>()
    await records.readRevocations((hash, at) => listed.set(hash, at))
    assert.equal(listed.get(hashApiKey(key).toString('hex')), 1_000)
    const ended = new Set((await records.listWithoutAccess()).map(({ email }) => email))
    assert.deepEqual(ended, new Set(['bob@example.com', 'cem@example.com']))
  })

  test("another user's key cannot be revoked by id and looks unknown", async (t) => {
    const { store } = await open(t)
    const { key, keyId } = await addOwner(store, 'ada@example.com')
    const { user: bob } = await addOwner(store, 'bob@example.com')
    assert.equal(await recordsOf(store).revokeApiKey(bob.id, keyId, operatorAt(1)), null)
    assert.equal(await recordsOf(store).revokeApiKey(bob.id, 'nothing', operatorAt(1)), null)
    assert.equal((await claim(store, key)).outcome, 'granted')
  })

  test('an id is compared as it was written: in upper case it names no key', async (t) => {
    const { store } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    assert.equal(
      await recordsOf(store).revokeApiKey(user.id, keyId.toUpperCase(), operatorAt(1)),
      null,
    )
    assert.equal((await claim(store, key)).outcome, 'granted')
  })

  test('uniting a list revokes the keys that are here, and counts what was new', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const { key } = await addOwner(store, 'ada@example.com')
    const { key: other } = await addOwner(store, 'bob@example.com')
    const list = new Map([[Buffer.from(hashApiKey(key)).toString('hex'), 1_000]])
    // More than a batch of hashes whose keys are nowhere.
    for (let index = 0; index < 1_500; index += 1)
      list.set(index.toString(16).padStart(64, '0'), index)
    assert.equal(
      await recordsOf(second).uniteRevocations(list, operatorAt(presentInstant())),
      1_501,
    )
    assert.equal((await claim(store, key)).outcome, 'revoked')
    assert.equal((await claim(store, other)).outcome, 'granted')
    assert.equal(await recordsOf(second).uniteRevocations(list, operatorAt(presentInstant())), 0)
    await second.close()
  })

  test('leaked keys are revoked by hash, of any user or of one user only', async (t) => {
    const { store } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    const { key: other, keyId: otherId } = await addOwner(store, 'bob@example.com')
    const hashes = [hashApiKey('svc_live_00'), hashApiKey(other), hashApiKey(key)]
    const revoke = async (now: number, userId?: string) => {
      const revoked = await recordsOf(store).revokeApiKeysByHash(hashes, operatorAt(now), userId)
      return new Map(revoked.map(({ id, revoked_at }) => [id, revoked_at]))
    }
    assert.deepEqual(await revoke(7, user.id), new Map([[keyId, 7]]))
    assert.equal((await claim(store, key)).outcome, 'revoked')
    assert.equal((await claim(store, other)).outcome, 'granted')
    const all = new Map([
      [keyId, 7],
      [otherId, 8],
    ])
    assert.deepEqual(new Map([...(await revoke(8))].toSorted((a, b) => a[1]! - b[1]!)), all)
    assert.equal((await claim(store, other)).outcome, 'revoked')
    assert.deepEqual(await recordsOf(store).revokeApiKeysByHash([], operatorAt(9)), [])
  })

  test("a removed user's keys are unknown at once", async (t) => {
    const { store, openSecond } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com', [
      { name: 'a', address: 'a.example.com' },
    ])
    const second = await openSecond()
    assert.equal((await claim(store, key)).outcome, 'granted')
    assert.equal(await removeUser(second.database, user.id, OPERATOR), true)
    assert.equal(await removeUser(second.database, user.id, OPERATOR), false)
    assert.deepEqual(await claim(store, key), { outcome: 'unknown' })
    await second.close()
  })
}
