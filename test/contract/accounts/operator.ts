import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { createUser } from '../../../src/accounts/user.ts'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import { NO_LISTINGS } from '../../fixtures/listings.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, NOW, register } from '../people.ts'
import { operator } from '../../../src/directory/records/operator.ts'
import { apiKeys } from '../../../src/keys/records/api-keys.ts'
import { users } from '../../../src/accounts/records/users.ts'
import { audit } from '../../../src/accounts/records/audit.ts'

const entry = (user_id: string | null, occurred_at: number) =>
  ({ user_id, action: 'sign-in refused', subject: 'x', address: 'y', occurred_at }) as const

/** What the operator's page reads. */
export function operatorContract(open: OpenFixture): void {
  test('records are counted, without revoked keys', async (t) => {
    const { store } = await open(t)
    const none = { users: 0, apiKeys: 0, servers: 0, organizations: 0 }
    assert.deepEqual(await operator(store.database).countRecords(), none)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await issueApiKey(store.database, ada!.id, 'one', OPERATOR)
    const two = await issueApiKey(store.database, bob!.id, 'two', OPERATOR)
    assert.ok('key' in two)
    await apiKeys(store.database).revokeApiKey(bob!.id, two.apiKey.id, OPERATOR)
    await register(store, ada!)
    await addOrganization(store, bob!)
    const some = { users: 2, apiKeys: 1, servers: 1, organizations: 1 }
    assert.deepEqual(await operator(store.database).countRecords(), some)
  })

  test('the newest users are listed with their keys and servers', async (t) => {
    const { store } = await open(t)
    const added = ['ada', 'bob', 'cem'].map((name, index) => ({
      ...createUser(`${name}@example.com`),
      created_at: NOW + index,
    }))
    for (const user of added) await users(store.database).insertUser(user, OPERATOR)
    const [ada, bob, cem] = added
    await issueApiKey(store.database, bob!.id, 'one', OPERATOR)
    await register(store, bob!)
    await register(store, bob!)
    const listed = await operator(store.database).listNewestUsers(2)
    assert.deepEqual(
      listed.map((user) => ({ ...user })),
      [
        { ...cem, apiKeys: 0, servers: 0 },
        { ...bob, apiKeys: 1, servers: 2 },
      ],
    )
    assert.equal((await operator(store.database).listNewestUsers(9)).at(-1)?.id, ada!.id)
  })

  test('the keys used last are listed with their owners, the latest first', async (t) => {
    const { store, elapse } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const keys: string[] = []
    for (const [index, user] of [ada!, bob!, ada!, bob!].entries()) {
      const issued = await issueApiKey(store.database, user.id, `key ${index}`, OPERATOR)
      assert.ok('key' in issued)
      keys.push(issued.key)
    }
    const use = async (index: number) => {
      const { outcome } = await store.claim(hashApiKey(keys[index]!), NO_LISTINGS)
      assert.equal(outcome, 'granted')
      await elapse(1_000)
    }
    for (const index of [2, 0, 1, 2]) await use(index)
    const shown = async (max: number) =>
      (await operator(store.database).listRecentApiKeys(max)).map(({ name, email }) => [
        name,
        email,
      ])
    const expected = [
      ['key 2', 'ada@example.com'],
      ['key 1', 'bob@example.com'],
      ['key 0', 'ada@example.com'],
    ]
    assert.deepEqual(await shown(9), expected)
    assert.deepEqual(await shown(2), expected.slice(0, 2))
    assert.ok((await operator(store.database).listRecentApiKeys(1))[0]!.last_used_at !== null)
  })

  test('the audit log of all users is listed, newest first', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const unknown = randomUUID()
    const entries = [entry(ada!.id, NOW + 2), entry(null, NOW + 1), entry(unknown, NOW)]
    for (const one of entries.toReversed()) await audit(store.database).writeAudit(one)
    const all = await operator(store.database).listAudit(9)
    const listed = all.filter(({ action }) => action !== 'user added').map((one) => ({ ...one }))
    const emails = ['ada@example.com', null, null]
    assert.deepEqual(
      listed,
      entries.map((one, index) => ({ ...one, email: emails[index], external_id: null })),
    )
    assert.equal((await operator(store.database).listAudit(2)).length, 2)
  })

  test('the database tells its engine, version and size', async (t) => {
    const { store } = await open(t)
    const { engine, version, bytes } = await operator(store.database).describeDatabase()
    assert.match(`${engine} ${version}`, /^(SQLite 3|PostgreSQL 1\d)\./)
    assert.ok(Number.isSafeInteger(bytes) && bytes > 10_000)
  })
}
