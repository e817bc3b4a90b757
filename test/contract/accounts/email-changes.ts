import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addUsers, tally } from '../people.ts'
import { listUsers } from '../../fixtures/service.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** Changes of an email address, which depend on the password that was checked. */
export function emailChangesContract(open: OpenFixture): void {
  /** Two users whose password has the hash `checked`. */
  async function openWithUsers(t: TestContext) {
    const { store, openSecond } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (const user of [ada!, bob!])
      await recordsOf(store).setPassword(user.id, 'checked', OPERATOR)
    return { store, openSecond, ada: ada!, bob: bob! }
  }

  test('a new email replaces the old one', async (t) => {
    const { store, ada, bob } = await openWithUsers(t)
    assert.equal(
      await recordsOf(store).changeEmail(ada.id, 'checked', 'countess@example.com', OPERATOR),
      'changed',
    )
    assert.deepEqual(await listUsers(store), [bob, { ...ada, email: 'countess@example.com' }])
    assert.equal(await recordsOf(store).findUser('ada@example.com'), null)
    assert.ok(await recordsOf(store).insertUser(createUser('ada@example.com'), OPERATOR))
  })

  test("another user's email is refused; one's own is accepted", async (t) => {
    const { store, ada, bob } = await openWithUsers(t)
    assert.equal(
      await recordsOf(store).changeEmail(ada.id, 'checked', 'bob@example.com', OPERATOR),
      'taken',
    )
    assert.equal(
      await recordsOf(store).changeEmail(ada.id, 'checked', 'ada@example.com', OPERATOR),
      'changed',
    )
    assert.deepEqual(await listUsers(store), [ada, bob])
  })

  test('an email changes only with the hash that its own user has now', async (t) => {
    const { store, ada, bob } = await openWithUsers(t)
    const change = (userId: string, checked: string, email = 'free@example.com') =>
      recordsOf(store).changeEmail(userId, checked, email, OPERATOR)
    assert.ok(await recordsOf(store).changePassword(ada.id, 'checked', 'replaced', OPERATOR))
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
    assert.ok(await recordsOf(store).beginSession({ ...session, ...times }, 'checked', null))
    const link = { userId: ada.id, tokenHash: 'link', expiresAt: NOW + 9 }
    assert.ok(await recordsOf(store).keepSignInLink(link, OPERATOR))
    assert.equal(await recordsOf(store).setEmail(ada.id, bob.email, OPERATOR), 'taken')
    assert.equal(
      await recordsOf(store).setEmail(randomUUID(), 'free@example.com', OPERATOR),
      'not found',
    )
    assert.equal(
      await recordsOf(store).setEmail(ada.id, 'countess@example.com', OPERATOR),
      'changed',
    )
    assert.deepEqual(await listUsers(store), [bob, { ...ada, email: 'countess@example.com' }])
    const found = await recordsOf(store).findSession(['s'], NOW)
    assert.deepEqual([found?.email, found?.name], ['countess@example.com', 'countess@example.com'])
    assert.equal(
      (await recordsOf(store).findSignInLink('link', NOW))?.email,
      'countess@example.com',
    )
    assert.equal((await recordsOf(store).findPassword('countess@example.com'))?.hash, 'checked')
  })

  test('exactly one of two users who take one email at once gets it', async (t) => {
    const { store, openSecond, ada, bob } = await openWithUsers(t)
    const second = await openSecond()
    const changed = await Promise.all([
      recordsOf(store).changeEmail(ada.id, 'checked', 'free@example.com', OPERATOR),
      recordsOf(second).changeEmail(bob.id, 'checked', 'free@example.com', OPERATOR),
    ])
    assert.deepEqual(tally(changed), { changed: 1, taken: 1 })
    const owner = changed[0] === 'changed' ? ada : bob
    assert.equal((await recordsOf(store).findUser('free@example.com'))?.id, owner.id)
    assert.equal((await recordsOf(store).listUserRecords()).length, 2)
  })
}
