import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { EXPIRED_DROPPED } from '../../../src/accounts/sessions.ts'
import type { Store } from '../../../src/database/store.ts'
import { createUser } from '../../../src/accounts/user.ts'
import { listUsers } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addUsers, tally } from '../people.ts'
import { passwords } from '../../../src/accounts/records/passwords.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** Stored passwords and the sessions that depend on them. */
export function passwordsContract(open: OpenFixture): void {
  test('a user is added with a password unless the email is taken', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    await recordsOf(store).keepSecret('setup', 'token')
    const users = Array.from({ length: 6 }, () => createUser('ada@example.com'))
    const inserted = await Promise.all(
      users.map((user, index) =>
        passwords((index % 2 === 0 ? store : second).database).insertUserWithPassword(
          user,
          `hash ${index}`,
          'sign-up',
          OPERATOR,
        ),
      ),
    )
    assert.deepEqual(tally(inserted), { true: 1, false: 5 })
    const index = inserted.indexOf(true)
    assert.deepEqual(await listUsers(store), [users[index]])
    const stored = { userId: users[index]!.id, hash: `hash ${index}` }
    assert.deepEqual(await recordsOf(store).findPassword('ada@example.com'), stored)
    // A user can sign in now, so that the setup link no longer works.
    assert.equal(await recordsOf(store).findSecret('setup'), null)
  })

  test("a password is found by its user's email or id only", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await recordsOf(store).setPassword(ada!.id, 'hash', OPERATOR)
    assert.deepEqual(await recordsOf(store).findPassword(ada!.email), {
      userId: ada!.id,
      hash: 'hash',
    })
    assert.equal(await recordsOf(store).findPasswordHash(ada!.id), 'hash')
    assert.equal(await recordsOf(store).findPassword(bob!.email), null)
    assert.equal(await recordsOf(store).findPasswordHash(bob!.id), null)
    assert.equal(await recordsOf(store).findPassword('eve@example.com'), null)
    assert.equal(await recordsOf(store).findPasswordHash(randomUUID()), null)
  })

  test('a new password replaces the old one, ends its sessions and the setup link', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (const user of [ada!, bob!]) {
      await recordsOf(store).setPassword(user.id, 'first', OPERATOR)
      assert.ok(await begin(store, user.id, user.email, 'first'))
    }
    await recordsOf(store).keepSecret('setup', 'token')
    await recordsOf(store).setPassword(ada!.id, 'second', OPERATOR)
    assert.equal(await recordsOf(store).findPasswordHash(ada!.id), 'second')
    assert.equal(await recordsOf(store).findPasswordHash(bob!.id), 'first')
    assert.equal(await recordsOf(store).findSession([ada!.email], NOW), null)
    assert.ok(await recordsOf(store).findSession([bob!.email], NOW))
    assert.equal(await recordsOf(store).findSecret('setup'), null)
  })

  changesContract(open)
  sessionsContract(open)
}

function changesContract(open: OpenFixture): void {
  test('exactly one of several changes that checked the same password is made', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (const user of [ada!, bob!])
      await recordsOf(store).setPassword(user.id, 'checked', OPERATOR)
    const changed = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        passwords((index % 2 === 0 ? store : second).database).changePassword(
          ada!.id,
          'checked',
          `new ${index}`,
          OPERATOR,
        ),
      ),
    )
    assert.deepEqual(tally(changed), { true: 1, false: 5 })
    assert.equal(await recordsOf(store).findPasswordHash(ada!.id), `new ${changed.indexOf(true)}`)
    assert.equal(await recordsOf(store).findPasswordHash(bob!.id), 'checked')
  })

  test('a change ends the sessions of its user, and a refused change ends none', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (const user of [ada!, bob!]) {
      await recordsOf(store).setPassword(user.id, 'checked', OPERATOR)
      assert.ok(await begin(store, user.id, user.email, 'checked'))
    }
    assert.equal(await recordsOf(store).changePassword(ada!.id, 'another', 'new', OPERATOR), false)
    assert.ok(await recordsOf(store).findSession([ada!.email], NOW))
    assert.equal(await recordsOf(store).changePassword(ada!.id, 'checked', 'new', OPERATOR), true)
    assert.equal(await recordsOf(store).findSession([ada!.email], NOW), null)
    assert.ok(await recordsOf(store).findSession([bob!.email], NOW))
    assert.equal(
      await recordsOf(store).changePassword(randomUUID(), 'checked', 'new', OPERATOR),
      false,
    )
  })
}

function sessionsContract(open: OpenFixture): void {
  test("ending a user's sessions ends all of them and no other user's", async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (const user of [ada!, bob!]) {
      await recordsOf(store).setPassword(user.id, 'hash', OPERATOR)
      for (const index of [1, 2]) await begin(store, user.id, `${user.email} ${index}`, 'hash')
    }
    await recordsOf(store).endSessions(ada!.id, OPERATOR)
    const [hers, his] = [ada!, bob!].map(({ email }) => [`${email} 1`, `${email} 2`])
    assert.equal(await recordsOf(store).findSession(hers!, NOW), null)
    for (const token of his!)
      assert.equal((await recordsOf(store).findSession([token], NOW))?.userId, bob!.id)
    await recordsOf(store).endSessionsOf(his!, OPERATOR)
    assert.equal(await recordsOf(store).findSession(his!, NOW), null)
  })

  test('a hash is renewed together with a session only, and for its user only', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (const user of [ada!, bob!]) await recordsOf(store).setPassword(user.id, 'hash', OPERATOR)
    assert.equal(await begin(store, ada!.id, 'a', 'another', { renewed: 'renewed' }), false)
    assert.equal(await recordsOf(store).findPasswordHash(ada!.id), 'hash')
    assert.equal(await begin(store, ada!.id, 'a', 'hash', { renewed: 'renewed' }), true)
    assert.equal(await recordsOf(store).findPasswordHash(ada!.id), 'renewed')
    assert.equal(await recordsOf(store).findPasswordHash(bob!.id), 'hash')
  })

  test('a new session deletes the ten that expired first, of any user', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (const user of [ada!, bob!]) await recordsOf(store).setPassword(user.id, 'hash', OPERATOR)
    const tokens = Array.from({ length: EXPIRED_DROPPED + 3 }, (_, index) => `token ${index}`)
    const left = async () => {
      const found = await Promise.all(
        tokens.map((token) => recordsOf(store).findSession([token], 0)),
      )
      return tokens.filter((_, index) => found[index] !== null)
    }
    // The last one expires at NOW, and each of the others one microsecond before the next.
    for (const [index, token] of tokens.entries()) {
      const expiresAt = NOW + index + 1 - tokens.length
      await begin(store, ada!.id, token, 'hash', { startedAt: NOW - 1_000_000, expiresAt })
    }
    assert.deepEqual(await left(), tokens)
    await begin(store, bob!.id, 'first', 'hash')
    assert.deepEqual(await left(), tokens.slice(EXPIRED_DROPPED))
    await begin(store, bob!.id, 'second', 'hash', { startedAt: NOW - 1 })
    assert.deepEqual(await left(), tokens.slice(-1))
    await begin(store, bob!.id, 'third', 'hash')
    assert.deepEqual(await left(), [])
    assert.ok(await recordsOf(store).findSession(['first'], NOW))
  })
}

interface Begun {
  renewed?: string | null
  startedAt?: number
  expiresAt?: number
}

function begin(
  store: Store,
  userId: string,
  tokenHash: string,
  checked: string,
  { renewed = null, startedAt = NOW, expiresAt = NOW + 1_000_000 }: Begun = {},
): Promise<boolean> {
  const session = { userId, tokenHash, userAgent: 'a browser', address: '', startedAt, expiresAt }
  return recordsOf(store).beginSession(session, checked, renewed)
}
