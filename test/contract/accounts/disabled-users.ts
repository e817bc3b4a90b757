import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import type { Store } from '../../../src/database/store.ts'
import { addOwner, issueKey } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from '../keys/claim.ts'
import { OPERATOR, addUsers, register, tally } from '../people.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf, setBanned } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

const begin = (store: Store, userId: string, tokenHash: string) =>
  recordsOf(store).beginSession(
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
    assert.equal(await recordsOf(second).setDisabled(user.id, true, OPERATOR), 'changed')
    // As a revoked key, also within a second of its last use.
    const refused = await claim(store, key)
    assert.ok(refused.outcome === 'revoked' && refused.apiKeyId === keyId)
    assert.equal((await claim(store, other)).outcome, 'granted')
    const [listed] = await recordsOf(store).listOwnedApiKeys(user.id)
    assert.deepEqual([listed?.revoked_at, listed?.disabled_at], [null, NOW])
    await elapse(1_000)
    assert.equal(await recordsOf(second).setDisabled(user.id, false, OPERATOR), 'changed')
    assert.equal((await claim(store, key)).outcome, 'granted')
    assert.equal((await recordsOf(store).listOwnedApiKeys(user.id))[0]?.disabled_at, null)
  })

  test('under load, the keys of a user whom another process disables are refused at once', async (t) => {
    const { store, openSecond, elapse } = await open(t)
    const second = await openSecond()
    for (let round = 0; round < 5; round += 1) {
      const { user, key } = await addOwner(store, `user${round}@example.com`)
      const keys = [key, (await issueKey(store, user, 'second')).key]
      const before = keys.flatMap((one) => Array.from({ length: 10 }, () => claim(store, one)))
      await recordsOf(second).setDisabled(user.id, true, OPERATOR)
      const after = await Promise.all(keys.map((one) => claim(store, one)))
      assert.deepEqual(tally(after.map(({ outcome }) => outcome)), { revoked: 2 })
      await Promise.all(before)
      await elapse(1_000)
    }
  })

  test('disabling is no revocation, and a key that was revoked stays so', async (t) => {
    const { store } = await open(t)
    const { user, key, keyId } = await addOwner(store, 'ada@example.com')
    await recordsOf(store).setDisabled(user.id, true, OPERATOR)
    assert.equal((await recordsOf(store).countRecords()).apiKeys, 1)
    assert.ok(await recordsOf(store).revokeApiKey(user.id, keyId, OPERATOR))
    await recordsOf(store).setDisabled(user.id, false, OPERATOR)
    assert.equal((await claim(store, key)).outcome, 'revoked')
  })

  test('a key of a disabled user works only once the user is enabled', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await recordsOf(store).setDisabled(ada!.id, true, OPERATOR)
    const issued = await issueApiKey(store.database, ada!.id, 'bot', OPERATOR)
    assert.ok('key' in issued)
    assert.equal((await claim(store, issued.key)).outcome, 'revoked')
    await recordsOf(store).setDisabled(ada!.id, false, OPERATOR)
    assert.equal((await claim(store, issued.key)).outcome, 'granted')
  })

  test('the first instant stays, and an unknown user is not found', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    assert.equal(await recordsOf(store).setDisabled(ada!.id, false, OPERATOR), 'unchanged')
    assert.equal(await recordsOf(store).setDisabled(ada!.id, true, OPERATOR), 'changed')
    assert.equal(
      await recordsOf(store).setDisabled(ada!.id, true, operatorAt(NOW + 1)),
      'unchanged',
    )
    assert.deepEqual(await recordsOf(store).findUser(ada!.email), { ...ada, disabled_at: NOW })
    assert.equal(await recordsOf(store).setDisabled(randomUUID(), true, OPERATOR), 'not found')
    assert.equal(await recordsOf(store).setDisabled('ada', true, OPERATOR), 'not found')
  })

  test('no session begins after the user is disabled, whichever process is first', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const users = await addUsers(store, 'ada', 'bob', 'cem', 'dee')
    for (const { id } of users) await recordsOf(store).setPassword(id, 'hash', OPERATOR)
    await Promise.all(
      users.flatMap(({ id }) => [
        begin(store, id, id),
        recordsOf(second).setDisabled(id, true, OPERATOR),
      ]),
    )
    for (const { id } of users) assert.equal(await recordsOf(store).findSession([id], NOW), null)
  })

  for (const side of ['operator', 'site'] as const) endedContract(open, side)

  test('a user whom both have ended signs in once both have taken it back', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await recordsOf(store).setPassword(ada!.id, 'hash', OPERATOR)
    const isLetIn = async () => (await recordsOf(store).findPassword(ada!.email)) !== null
    const disable = async (isDisabled: boolean) =>
      assert.equal(await recordsOf(store).setDisabled(ada!.id, isDisabled, OPERATOR), 'changed')
    await disable(true)
    await setBanned(store, ada!.id, NOW)
    await setBanned(store, ada!.id, null)
    assert.equal(await isLetIn(), false)
    await setBanned(store, ada!.id, NOW + 1)
    await disable(false)
    assert.equal(await isLetIn(), false)
    const banned = { ...ada, disabled_at: null, banned_at: NOW + 1 }
    assert.deepEqual(await recordsOf(store).findUser(ada!.email), banned)
    await setBanned(store, ada!.id, null)
    assert.equal(await isLetIn(), true)
  })

  test('a session and a link that a process of 0.1.0 makes for a banned user do not work', async (t) => {
    const { store, execute, literal } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await setBanned(store, ada!.id, NOW)
    const [start, end] = [literal.instant(NOW), literal.instant(NOW + 1)]
    await execute(`
      INSERT INTO sign_in_links VALUES ('${ada!.id}', 'token', ${end});
      INSERT INTO sessions
        (id, user_id, token_hash, address, user_agent, started_at, last_active_at, expires_at)
      VALUES ('${randomUUID()}', '${ada!.id}', 'token', '', '', ${start}, ${start}, ${end})`)
    const found = async () => [
      await recordsOf(store).findSession(['token'], NOW),
      await recordsOf(store).findSignInLink('token', NOW),
    ]
    assert.deepEqual(await found(), [null, null])
    await setBanned(store, ada!.id, null)
    assert.deepEqual(await found(), [null, null])
  })
}

type Side = 'operator' | 'site'

function setEnded(store: Store, side: Side, userId: string, isEnded: boolean): Promise<unknown> {
  return side === 'site'
    ? setBanned(store, userId, isEnded ? NOW : null)
    : recordsOf(store).setDisabled(userId, isEnded, OPERATOR)
}

/** An operator or the site ends all access of a user. */
function endedContract(open: OpenFixture, side: Side): void {
  test(`a user whom the ${side} ends has no password, sessions and link, and gets only the password back`, async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const link = (userId: string) =>
      recordsOf(store).keepSignInLink(
        {
          userId,
          tokenHash: `link of ${userId}`,
          expiresAt: NOW + 9,
        },
        OPERATOR,
      )
    for (const { id } of [ada!, bob!]) {
      await recordsOf(store).setPassword(id, 'hash', OPERATOR)
      assert.ok(await begin(store, id, `session of ${id}`))
      assert.ok(await link(id))
    }
    const access = async ({ id, email }: { id: string; email: string }) => ({
      password: (await recordsOf(store).findPassword(email))?.hash,
      hash: await recordsOf(store).findPasswordHash(id),
      session: (await recordsOf(store).findSession([`session of ${id}`], NOW))?.userId,
      link: (await recordsOf(store).findSignInLink(`link of ${id}`, NOW))?.id,
    })
    const none = { password: undefined, hash: null, session: undefined, link: undefined }
    await setEnded(store, side, ada!.id, true)
    assert.deepEqual(await access(ada!), none)
    // A sign-in that has checked the password, and a form that was sent before.
    assert.equal(await begin(store, ada!.id, 'late'), false)
    assert.equal(await recordsOf(store).changePassword(ada!.id, 'hash', 'new', OPERATOR), false)
    assert.equal(
      await recordsOf(store).changeEmail(ada!.id, 'hash', 'new@example.com', OPERATOR),
      'outdated',
    )
    assert.equal(await link(ada!.id), false)
    assert.equal(await recordsOf(store).useSignInLink(`link of ${ada!.id}`, 'new', OPERATOR), null)
    const [record] = await recordsOf(store).listUserRecords()
    const facts = side === 'site' ? [null, NOW] : [NOW, null]
    assert.deepEqual([record?.disabled_at, record?.banned_at], facts)
    assert.equal(record?.can_sign_in, false)
    await setEnded(store, side, ada!.id, false)
    assert.deepEqual(await access(ada!), { ...none, password: 'hash', hash: 'hash' })
    const { session, link: linked } = await access(bob!)
    assert.deepEqual([session, linked], [bob!.id, bob!.id])
  })

  test(`the setup link gives a user whom the ${side} ends no password and stays usable`, async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await setEnded(store, side, ada!.id, true)
    await recordsOf(store).keepSecret('setup', 'token')
    assert.equal(await recordsOf(store).insertFirstUser(ada!, 'hash', 'token', OPERATOR), null)
    assert.equal(await recordsOf(store).hasAccounts(), false)
    assert.equal(await recordsOf(store).insertFirstUser(bob!, 'hash', 'token', OPERATOR), bob!.id)
  })

  test(`the published servers of a user whom the ${side} ends are not found until it takes that back`, async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const ids = [await register(store, ada!), await register(store, bob!)]
    const found = async () =>
      Promise.all(ids.map(async (id) => (await recordsOf(store).findPublishedServer(id)) !== null))
    await setEnded(store, side, ada!.id, true)
    assert.deepEqual(await found(), [false, true])
    await setEnded(store, side, ada!.id, false)
    assert.deepEqual(await found(), [true, true])
  })
}
