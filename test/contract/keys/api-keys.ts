import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type ApiKey, generateKey } from '../../../src/keys/api-key.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import type { Store } from '../../../src/database/store.ts'
import type { User } from '../../../src/accounts/user.ts'
import { addUser } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addUsers, tally } from '../people.ts'
import { claim } from './claim.ts'
import { apiKeys } from '../../../src/keys/records/api-keys.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

export function apiKeysContract(open: OpenFixture): void {
  test('a sixth key is refused, and so is a key above a lower maximum', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (let index = 0; index < 5; index += 1) await insert(store, record(ada!))
    assert.equal(
      await recordsOf(store).insertApiKey(record(ada!), someHash(), 5, OPERATOR),
      'at limit',
    )
    assert.equal(
      await recordsOf(store).insertApiKey(record(bob!), someHash(), 1, OPERATOR),
      'stored',
    )
    assert.equal(
      await recordsOf(store).insertApiKey(record(bob!), someHash(), 1, OPERATOR),
      'at limit',
    )
    assert.equal((await recordsOf(store).listApiKeys(bob!.id)).length, 1)
  })

  test('a form that is sent twice stores one key, also at the limit and at once', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const user = await addUser(store)
    const apiKey = record(user)
    const stored = await Promise.all(
      [store, second, store, second].map((one) =>
        recordsOf(one).insertApiKey(apiKey, someHash(), 5, OPERATOR),
      ),
    )
    assert.deepEqual(tally(stored), { stored: 1, known: 3 })
    for (let index = 0; index < 4; index += 1) await insert(store, record(user))
    assert.equal(await recordsOf(store).insertApiKey(apiKey, someHash(), 5, OPERATOR), 'known')
    assert.ok(await recordsOf(store).revokeApiKey(user.id, apiKey.id, OPERATOR))
    assert.equal(await recordsOf(store).insertApiKey(apiKey, someHash(), 5, OPERATOR), 'known')
    assert.equal((await recordsOf(store).listApiKeys(user.id)).length, 5)
  })

  test('keys are listed oldest first, keys of one instant by id', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const records = [NOW + 1, NOW, NOW, NOW, NOW - 1].map((instant) => record(ada!, instant))
    for (const one of records) await insert(store, one)
    await insert(store, record(bob!))
    const ids = records.slice(1, 4).map(({ id }) => id)
    const ordered = [records[4]!.id, ...ids.toSorted(), records[0]!.id]
    assert.deepEqual(await idsOf(store, ada!), ordered)
  })

  test('all active keys are listed, and a limited number of the latest revoked ones', async (t) => {
    const { store } = await open(t)
    const [user, bob] = (await addUsers(store, 'ada', 'bob')) as [User, User]
    // Another user's keys take no place, although they were revoked last.
    const foreign = record(bob, NOW)
    await insert(store, foreign)
    await recordsOf(store).revokeApiKey(bob.id, foreign.id, operatorAt(NOW + 200))
    const records = Array.from({ length: 6 }, (_, index) => record(user, NOW + index))
    for (const [index, one] of records.entries()) {
      await insert(store, one)
      // The first one is revoked last.
      if (index < 4)
        await recordsOf(store).revokeApiKey(user.id, one.id, operatorAt(NOW + 100 - index))
    }
    const ids = records.map(({ id }) => id)
    const active = ids.slice(4)
    for (const [revokedMax, expected] of [
      [undefined, ids],
      [9, ids],
      [4, ids],
      [3, [...ids.slice(0, 3), ...active]],
      [1, [ids[0], ...active]],
      [0, active],
    ] as const)
      assert.deepEqual(await idsOf(store, user, revokedMax), expected)
  })

  revocationContract(open)
}

function revocationContract(open: OpenFixture): void {
  test('two revocations at once both return the instant that is stored', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const user = await addUser(store)
    const apiKey = record(user)
    await insert(store, apiKey)
    const revoked = await Promise.all([
      recordsOf(store).revokeApiKey(user.id, apiKey.id, operatorAt(NOW + 1)),
      recordsOf(second).revokeApiKey(user.id, apiKey.id, operatorAt(NOW + 2)),
    ])
    const [listed] = await recordsOf(store).listApiKeys(user.id)
    assert.ok(listed?.revoked_at === NOW + 1 || listed?.revoked_at === NOW + 2)
    assert.deepEqual(revoked, [listed, listed])
  })

  test('revoking a key returns its record and revokes no other key', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const key = generateKey()
    const [used, other, his] = [record(ada!), record(ada!), record(bob!)]
    assert.equal(await recordsOf(store).insertApiKey(used, hashApiKey(key), 5, OPERATOR), 'stored')
    for (const one of [other, his]) await insert(store, one)
    assert.equal((await claim(store, key)).outcome, 'granted')
    const revoked = await recordsOf(store).revokeApiKey(ada!.id, used.id, operatorAt(NOW + 3))
    const listed = await recordsOf(store).listApiKeys(ada!.id)
    assert.deepEqual(
      revoked,
      listed.find(({ id }) => id === used.id),
    )
    assert.ok(revoked?.revoked_at === NOW + 3 && revoked.last_used_at !== null)
    assert.equal(await recordsOf(store).revokeApiKey(bob!.id, other.id, OPERATOR), null)
    const active = [...listed, ...(await recordsOf(store).listApiKeys(bob!.id))].filter(
      ({ revoked_at }) => revoked_at === null,
    )
    assert.deepEqual(new Set(active.map(({ id }) => id)), new Set([other.id, his.id]))
  })

  test('a key that leaked twice is returned once; concurrent calls do not deadlock', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const hashes = Array.from({ length: 10 }, someHash)
    for (const [index, keyHash] of hashes.entries()) {
      const apiKey = record(index % 2 === 0 ? ada! : bob!)
      assert.equal(await recordsOf(store).insertApiKey(apiKey, keyHash, 5, OPERATOR), 'stored')
    }
    const twice = [...hashes, ...hashes]
    const revoked = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        apiKeys((index % 2 === 0 ? store : second).database).revokeApiKeysByHash(
          index % 3 === 0 ? twice : twice.toReversed(),
          operatorAt(NOW + index),
        ),
      ),
    )
    for (const keys of revoked) {
      assert.equal(keys.length, 10)
      assert.equal(new Set(keys.map(({ id }) => id)).size, 10)
      assert.equal(new Set(keys.map(({ revoked_at }) => revoked_at)).size, 1)
    }
    assert.equal(new Set(revoked.flat().map(({ revoked_at }) => revoked_at)).size, 1)
  })
}

function record(user: User, created_at = NOW): ApiKey {
  return {
    id: randomUUID(),
    user_id: user.id,
    name: 'bot',
    prefix: 'svc_live_0000000',
    created_at,
    revoked_at: null,
    last_used_at: null,
  }
}

function someHash(): Buffer {
  return hashApiKey(generateKey())
}

async function insert(store: Store, apiKey: ApiKey): Promise<void> {
  assert.equal(await recordsOf(store).insertApiKey(apiKey, someHash(), 5, OPERATOR), 'stored')
}

async function idsOf(store: Store, user: User, revokedMax?: number): Promise<string[]> {
  return (await recordsOf(store).listApiKeys(user.id, revokedMax)).map(({ id }) => id)
}
