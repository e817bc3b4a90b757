import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import type { Store } from '../../../src/database/store.ts'
import { addOwner, issueKey } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from '../keys/claim.ts'
import { OPERATOR, addUsers, NOW, register, tally } from '../people.ts'
import { sessions } from '../../../src/accounts/records/sessions.ts'
import { disabledUsers } from '../../../src/accounts/records/disabled-users.ts'
import { inventory } from '../../../src/directory/records/inventory.ts'
import { operator } from '../../../src/directory/records/operator.ts'
import { apiKeys } from '../../../src/keys/records/api-keys.ts'
import { users } from '../../../src/accounts/records/users.ts'
import { signInLinks } from '../../../src/accounts/records/sign-in-links.ts'
import { passwords } from '../../../src/accounts/records/passwords.ts'
import { emailChanges } from '../../../src/accounts/records/email-changes.ts'
import { secrets } from '../../../src/accounts/records/secrets.ts'
import { servers } from '../../../src/servers/records/servers.ts'
import { operatorAt } from '../../../src/model/audit.ts'

const begin = (store: Store, userId: string, tokenHash: string) =>
  sessions(store.database).beginSession(
    { userId, tokenHash, userAgent: '', address: '', startedAt: NOW, expiresAt: NOW + 9 },
    'hash',
    null,
  )

/** A disabled user has no access until an operator enables the user. */
export function disabledUsersContract(open: OpenFixture): void {
  test("every process refuses a disabled user's keys at once, and an enabled user has the same keys", async (t) => {
    const { store, openSecond, elapse } = await open(t)
    const second = await openSecond()
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    const { key: other } = await addOwner(store, 'bob@example.com')
    assert.equal((await claim(store, key)).outcome, 'granted')
    assert.equal(
      await disabledUsers(second.database).setDisabled(user.id, true, OPERATOR),
      'changed',
    )
    // As a revoked key, also within a second of its last use.
    const refused = await claim(store, key)
    assert.ok(refused.outcome === 'revoked' && refused.apiKeyId === keyId)
    assert.equal((await claim(store, other)).outcome, 'granted')
    const [listed] = await inventory(store.database).listOwnedApiKeys(user.id)
    assert.deepEqual([listed?.revoked_at, listed?.disabled_at], [null, NOW])
    await elapse(1_000)
    assert.equal(
      await disabledUsers(second.database).setDisabled(user.id, false, OPERATOR),
      'changed',
    )
    assert.equal((await claim(store, key)).outcome, 'granted')
    assert.equal((await inventory(store.database).listOwnedApiKeys(user.id))[0]?.disabled_at, null)
  })

  test('under load, the keys of a user whom another process disables are refused at once', async (t) => {
    const { store, openSecond, elapse } = await open(t)
    const second = await openSecond()
    for (let round = 0; round < 5; round += 1) {
      const { user, key } = await addOwner(store, `user${round}@example.com`)
      const keys = [key, (await issueKey(store, user, 'second')).key]
      const before = keys.flatMap((one) => Array.from({ length: 10 }, () => claim(store, one)))
      await disabledUsers(second.database).setDisabled(user.id, true, OPERATOR)
      const after = await Promise.all(keys.map((one) => claim(store, one)))
      assert.deepEqual(tally(after.map(({ outcome }) => outcome)), { revoked: 2 })
      await Promise.all(before)
      await elapse(1_000)
    }
  })

  test('disabling is no revocation, and a key that was revoked stays so', async (t) => {
    const { store } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    await disabledUsers(store.database).setDisabled(user.id, true, OPERATOR)
    assert.equal((await operator(store.database).countRecords()).apiKeys, 1)
    assert.ok(await apiKeys(store.database).revokeApiKey(user.id, keyId, OPERATOR))
    await disabledUsers(store.database).setDisabled(user.id, false, OPERATOR)
    assert.equal((await claim(store, key)).outcome, 'revoked')
  })

  test('a key of a disabled user works only once the user is enabled', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await disabledUsers(store.database).setDisabled(ada!.id, true, OPERATOR)
    const issued = await issueApiKey(store.database, ada!.id, 'bot', OPERATOR)
    assert.ok('key' in issued)
    assert.equal((await claim(store, issued.key)).outcome, 'revoked')
    await disabledUsers(store.database).setDisabled(ada!.id, false, OPERATOR)
    assert.equal((await claim(store, issued.key)).outcome, 'granted')
  })

  test('the first instant stays, and an unknown user is not found', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    assert.equal(
      await disabledUsers(store.database).setDisabled(ada!.id, false, OPERATOR),
      'unchanged',
    )
    assert.equal(
      await disabledUsers(store.database).setDisabled(ada!.id, true, OPERATOR),
      'changed',
    )
    assert.equal(
      await disabledUsers(store.database).setDisabled(ada!.id, true, operatorAt(NOW + 1)),
      'unchanged',
    )
    assert.deepEqual(await users(store.database).findUser(ada!.email), { ...ada, disabled_at: NOW })
    assert.equal(
      await disabledUsers(store.database).setDisabled(randomUUID(), true, OPERATOR),
      'not found',
    )
    assert.equal(
      await disabledUsers(store.database).setDisabled('ada', true, OPERATOR),
      'not found',
    )
  })

  test('a disabled user has no password, sessions and sign-in link, and gets only the password back', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const link = (userId: string) =>
      signInLinks(store.database).keepSignInLink(
        {
          userId,
          tokenHash: `link of ${userId}`,
          expiresAt: NOW + 9,
        },
        OPERATOR,
      )
    for (const { id } of [ada!, bob!]) {
      await passwords(store.database).setPassword(id, 'hash', OPERATOR)
      assert.ok(await begin(store, id, `session of ${id}`))
      assert.ok(await link(id))
    }
    const access = async ({ id, email }: { id: string; email: string }) => ({
      password: (await passwords(store.database).findPassword(email))?.hash,
      hash: await passwords(store.database).findPasswordHash(id),
      session: (await sessions(store.database).findSession([`session of ${id}`], NOW))?.userId,
      link: (await signInLinks(store.database).findSignInLink(`link of ${id}`, NOW))?.id,
    })
    const none = { password: undefined, hash: null, session: undefined, link: undefined }
    await disabledUsers(store.database).setDisabled(ada!.id, true, OPERATOR)
    assert.deepEqual(await access(ada!), none)
    // A sign-in that has checked the password, and a form that was sent before.
    assert.equal(await begin(store, ada!.id, 'late'), false)
    assert.equal(
      await passwords(store.database).changePassword(ada!.id, 'hash', 'new', OPERATOR),
      false,
    )
    assert.equal(
      await emailChanges(store.database).changeEmail(ada!.id, 'hash', 'new@example.com', OPERATOR),
      'outdated',
    )
    assert.equal(await link(ada!.id), false)
    assert.equal(
      await signInLinks(store.database).useSignInLink(`link of ${ada!.id}`, 'new', OPERATOR),
      null,
    )
    const [record] = await inventory(store.database).listUserRecords()
    assert.deepEqual([record?.can_sign_in, record?.disabled_at], [false, NOW])
    await disabledUsers(store.database).setDisabled(ada!.id, false, OPERATOR)
    assert.deepEqual(await access(ada!), { ...none, password: 'hash', hash: 'hash' })
    const { session, link: linked } = await access(bob!)
    assert.deepEqual([session, linked], [bob!.id, bob!.id])
  })

  test('no session begins after the user is disabled, whichever process is first', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const users = await addUsers(store, 'ada', 'bob', 'cem', 'dee')
    for (const { id } of users) await passwords(store.database).setPassword(id, 'hash', OPERATOR)
    await Promise.all(
      users.flatMap(({ id }) => [
        begin(store, id, id),
        disabledUsers(second.database).setDisabled(id, true, OPERATOR),
      ]),
    )
    for (const { id } of users)
      assert.equal(await sessions(store.database).findSession([id], NOW), null)
  })

  test('the setup link gives a disabled user no password and stays usable', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await disabledUsers(store.database).setDisabled(ada!.id, true, OPERATOR)
    await secrets(store.database).keepSecret('setup', 'token')
    assert.equal(
      await passwords(store.database).insertFirstUser(ada!, 'hash', 'token', OPERATOR),
      null,
    )
    assert.equal(await passwords(store.database).hasAccounts(), false)
    assert.equal(
      await passwords(store.database).insertFirstUser(bob!, 'hash', 'token', OPERATOR),
      bob!.id,
    )
  })

  test("a disabled user's published servers are not found until the user is enabled", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const ids = [await register(store, ada!), await register(store, bob!)]
    const found = async () =>
      Promise.all(
        ids.map(async (id) => (await servers(store.database).findPublishedServer(id)) !== null),
      )
    await disabledUsers(store.database).setDisabled(ada!.id, true, OPERATOR)
    assert.deepEqual(await found(), [false, true])
    await disabledUsers(store.database).setDisabled(ada!.id, false, OPERATOR)
    assert.deepEqual(await found(), [true, true])
  })
}
