import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { insertSession, isOperatorAccount } from '../../../src/accounts/records/sessions.ts'
import { createUser, type User } from '../../../src/accounts/user.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import { NO_LISTINGS } from '../../fixtures/listings.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, register } from '../people.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

const entry = (user_id: string | null, occurred_at: number) =>
  ({ user_id, action: 'sign-in refused', subject: 'x', address: 'y', occurred_at }) as const

/** An entry about an act on Ada's account. */
const of = (action: string, address: string) => [action, 'ada@example.com', address]

/** What the operator's page reads. */
export function operatorContract(open: OpenFixture): void {
  test('records are counted, without revoked keys', async (t) => {
    const { store } = await open(t)
    const none = { users: 0, apiKeys: 0, servers: 0, organizations: 0 }
    assert.deepEqual(await recordsOf(store).countRecords(), none)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await issueApiKey(store.database, ada!.id, 'one', OPERATOR)
    const two = await issueApiKey(store.database, bob!.id, 'two', OPERATOR)
    assert.ok('key' in two)
    await recordsOf(store).revokeApiKey(bob!.id, two.apiKey.id, OPERATOR)
    await register(store, ada!)
    await addOrganization(store, bob!)
    const some = { users: 2, apiKeys: 1, servers: 1, organizations: 1 }
    assert.deepEqual(await recordsOf(store).countRecords(), some)
  })

  test('the details of a user have the last sign-in and the servers', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const { findUserDetails } = recordsOf(store)
    const nothing = {
      email_issuer: null,
      passwords: 0,
      servers: 0,
      organization_servers: 0,
      last_sign_in_at: null,
    }
    assert.deepEqual({ ...(await findUserDetails(bob!.id)) }, { ...bob, ...nothing })
    const organization_id = await addOrganization(store, ada!)
    await register(store, ada!)
    await register(store, ada!, { organization_id })
    await recordsOf(store).setPassword(ada!.id, 'hash', OPERATOR)
    const session = {
      userId: ada!.id,
      tokenHash: 'x',
      userAgent: '',
      address: '',
      startedAt: NOW + 5,
      expiresAt: NOW + 9,
    }
    await recordsOf(store).beginSession(session, 'hash', null)
    await recordsOf(store).writeAudit(entry(ada!.id, NOW + 8))
    const expected = {
      ...nothing,
      passwords: 1,
      servers: 2,
      organization_servers: 1,
      last_sign_in_at: NOW + 5,
    }
    assert.deepEqual({ ...(await findUserDetails(ada!.id)) }, { ...ada, ...expected })
    assert.equal(await findUserDetails(randomUUID()), null)
    assert.equal(await findUserDetails('nothing'), null)
  })

  test('an account is an operator’s by its address, also a site’s, or while a session has the right', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const site = createUser('ops@example.com', '4711')
    const plain = createUser(null, '4712')
    for (const one of [site, plain]) assert.ok(await recordsOf(store).insertUser(one, OPERATOR))
    const listed = ['ops@example.com', 'ada@example.com']
    const isOne = (user: User, now: number) => isOperatorAccount(store.database, user, listed, now)
    const all = (now: number) =>
      Promise.all([ada!, bob!, site, plain].map((user) => isOne(user, now)))
    assert.deepEqual(await all(NOW), [true, false, true, false])
    const draft = { userAgent: '', address: '', startedAt: NOW, expiresAt: NOW + 9 }
    for (const [user, operatorUntil] of [
      [bob!, null],
      [bob!, NOW + 7],
      [plain, NOW + 8],
    ] as const)
      await store.database.transact((transaction) =>
        insertSession(transaction, store.database.dialect, {
          ...draft,
          userId: user.id,
          tokenHash: randomUUID(),
          operatorUntil,
        }),
      )
    assert.deepEqual(await all(NOW + 6), [true, true, true, true])
    assert.deepEqual(await all(NOW + 7), [true, false, true, true])
    assert.deepEqual(await all(NOW + 8), [true, false, true, false])
  })

  test('an act of an operator has an entry about the user and one about the operator', async (t) => {
    const { store } = await open(t)
    const [ada, ops] = await addUsers(store, 'ada', 'ops')
    const actor = { address: '192.0.2.1', at: NOW + 1, operatorId: ops!.id }
    await recordsOf(store).setDisabled(ada!.id, true, actor)
    await recordsOf(store).setDisabled(ada!.id, true, actor)
    await recordsOf(store).setDisabled(ada!.id, false, { ...actor, at: NOW + 2 })
    const link = { userId: ada!.id, tokenHash: 'x', expiresAt: NOW + 9 }
    await recordsOf(store).keepSignInLink(link, { ...actor, at: NOW + 3 })
    assert.equal(
      await recordsOf(store).endSessions(ada!.id, { ...actor, at: NOW + 4 }, 'sessions ended'),
      false,
    )
    const draft = { userAgent: '', address: '', startedAt: NOW + 4, expiresAt: NOW + 9 }
    await recordsOf(store).beginLinkedSession('x', { ...draft, tokenHash: 'y' })
    assert.equal(
      await recordsOf(store).endSessions(ada!.id, { ...actor, at: NOW + 5 }, 'sessions ended'),
      true,
    )
    const listed = async (userId: string) =>
      (await recordsOf(store).listAudit(9, { userId, since: NOW + 1 })).map(
        ({ action, subject, address }) => [action, subject, address],
      )
    assert.deepEqual(await listed(ada!.id), [
      of('sessions ended', 'operator page'),
      of('signed in by link', ''),
      of('sign-in link issued', 'operator page'),
      of('user enabled', 'operator page'),
      of('user disabled', 'operator page'),
    ])
    assert.deepEqual(await listed(ops!.id), [
      of('operator ended sessions', '192.0.2.1'),
      of('operator issued link', '192.0.2.1'),
      of('operator enabled user', '192.0.2.1'),
      of('operator disabled user', '192.0.2.1'),
    ])
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
      (await recordsOf(store).listRecentApiKeys(max)).map(({ name, email }) => [name, email])
    const expected = [
      ['key 2', 'ada@example.com'],
      ['key 1', 'bob@example.com'],
      ['key 0', 'ada@example.com'],
    ]
    assert.deepEqual(await shown(9), expected)
    assert.deepEqual(await shown(2), expected.slice(0, 2))
    assert.ok((await recordsOf(store).listRecentApiKeys(1))[0]!.last_used_at !== null)
  })

  test('the audit log of all users is listed, newest first', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const unknown = randomUUID()
    const entries = [entry(ada!.id, NOW + 2), entry(null, NOW + 1), entry(unknown, NOW)]
    for (const one of entries.toReversed()) await recordsOf(store).writeAudit(one)
    const all = await recordsOf(store).listAudit(9)
    const listed = all.filter(({ action }) => action !== 'user added').map((one) => ({ ...one }))
    const emails = ['ada@example.com', null, null]
    assert.deepEqual(
      listed,
      entries.map((one, index) => ({ ...one, email: emails[index], external_id: null })),
    )
    assert.equal((await recordsOf(store).listAudit(2)).length, 2)
  })

  test('the database tells its engine, version and size', async (t) => {
    const { store } = await open(t)
    const { engine, version, bytes } = await recordsOf(store).describeDatabase()
    assert.match(`${engine} ${version}`, /^(SQLite 3|PostgreSQL 1\d)\./)
    assert.ok(Number.isSafeInteger(bytes) && bytes > 10_000)
  })
}
