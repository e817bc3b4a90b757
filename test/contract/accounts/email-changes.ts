import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addUsers, NOW, tally } from '../people.ts'
import { listUsers } from '../../fixtures/service.ts'
import { passwords } from '../../../src/accounts/records/passwords.ts'
import { emailChanges } from '../../../src/accounts/records/email-changes.ts'
import { users } from '../../../src/accounts/records/users.ts'
import { sessions } from '../../../src/accounts/records/sessions.ts'
import { signInLinks } from '../../../src/accounts/records/sign-in-links.ts'
import { inventory } from '../../../src/directory/records/inventory.ts'

/** Changes of an email address, which depend on the password that was checked. */
export function emailChangesContract(open: OpenFixture): void {
  /** Two users whose password has the hash `checked`. */
  async function openWithUsers(t: TestContext) {
    const { store, openSecond } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (const user of [ada!, bob!])
      await passwords(store.database).setPassword(user.id, 'checked', OPERATOR)
    return { store, openSecond, ada: ada!, bob: bob! }
  }

  test('a new email replaces the old one', async (t) => {
    const { store, ada, bob } = await openWithUsers(t)
    assert.equal(
      await emailChanges(store.database).changeEmail(
        ada.id,
        'checked',
        'countess@example.com',
        OPERATOR,
      ),
      'changed',
    )
    assert.deepEqual(await listUsers(store), [bob, { ...ada, email: 'countess@example.com' }])
    assert.equal(await users(store.database).findUser('ada@example.com'), null)
    assert.ok(await users(store.database).insertUser(createUser('ada@example.com'), OPERATOR))
  })

  test("another user's email is refused; one's own is accepted", async (t) => {
    const { store, ada, bob } = await openWithUsers(t)
    assert.equal(
      await emailChanges(store.database).changeEmail(
        ada.id,
        'checked',
        'bob@example.com',
        OPERATOR,
      ),
      'taken',
    )
    assert.equal(
      await emailChanges(store.database).changeEmail(
        ada.id,
        'checked',
        'ada@example.com',
        OPERATOR,
      ),
      'changed',
    )
    assert.deepEqual(await listUsers(store), [ada, bob])
  })

  test('an email changes only with the hash that its own user has now', async (t) => {
    const { store, ada, bob } = await openWithUsers(t)
    const change = (userId: string, checked: string, email = 'free@example.com') =>
      emailChanges(store.database).changeEmail(userId, checked, email, OPERATOR)
    assert.ok(
      await passwords(store.database).changePassword(ada.id, 'checked', 'replaced', OPERATOR),
    )
    assert.equal(await change(ada.id, 'checked'), 'outdated')
    assert.equal(await change(ada.id, 'checked', bob.email), 'outdated')
    assert.equal(await change(bob.id, 'replaced'), 'outdated')
    assert.equal(await change(randomUUID(), 'checked'), 'outdated')
    assert.deepEqual(await listUsers(store), [ada, bob])
    assert.equal(await change(ada.id, 'replaced'), 'changed')
  })

  test('an operator changes an address without the password, and sessions stay', async (t) => {
    const { store, ada, bob } = await openWithUsers(t)
    const session = { userId: ada.id, tokenHash: 's', userAgent: '', address: '' }
    const times = { startedAt: NOW, expiresAt: NOW + 9 }
    assert.ok(
      await sessions(store.database).beginSession({ ...session, ...times }, 'checked', null),
    )
    const link = { userId: ada.id, tokenHash: 'link', expiresAt: NOW + 9 }
    assert.ok(await signInLinks(store.database).keepSignInLink(link, OPERATOR))
    assert.equal(await emailChanges(store.database).setEmail(ada.id, bob.email, OPERATOR), 'taken')
    assert.equal(
      await emailChanges(store.database).setEmail(randomUUID(), 'free@example.com', OPERATOR),
      'not found',
    )
    assert.equal(
      await emailChanges(store.database).setEmail(ada.id, 'countess@example.com', OPERATOR),
      'changed',
    )
    assert.deepEqual(await listUsers(store), [bob, { ...ada, email: 'countess@example.com' }])
    const found = await sessions(store.database).findSession(['s'], NOW)
    assert.deepEqual([found?.email, found?.name], ['countess@example.com', 'countess@example.com'])
    assert.equal(
      (await signInLinks(store.database).findSignInLink('link', NOW))?.email,
      'countess@example.com',
    )
    assert.equal(
      (await passwords(store.database).findPassword('countess@example.com'))?.hash,
      'checked',
    )
  })

  test('exactly one of two users who take one email at once gets it', async (t) => {
    const { store, openSecond, ada, bob } = await openWithUsers(t)
    const second = await openSecond()
    const changed = await Promise.all([
      emailChanges(store.database).changeEmail(ada.id, 'checked', 'free@example.com', OPERATOR),
      emailChanges(second.database).changeEmail(bob.id, 'checked', 'free@example.com', OPERATOR),
    ])
    assert.deepEqual(tally(changed), { changed: 1, taken: 1 })
    const owner = changed[0] === 'changed' ? ada : bob
    assert.equal((await users(store.database).findUser('free@example.com'))?.id, owner.id)
    assert.equal((await inventory(store.database).listUserRecords()).length, 2)
  })
}
