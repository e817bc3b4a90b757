import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenFixture } from '../../fixture.ts'
import { OPERATOR, addUsers, tally } from '../../people.ts'
import { signInLinks } from '../../../../src/accounts/records/sign-in-links.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'
import { NOW } from '../../../fixtures/clock.ts'

/** Links with which a user sets a new password. */
export function signInLinksContract(open: OpenFixture): void {
  test('a link is found until it expires, and a second one replaces it', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const found = async (tokenHash: string, now = NOW) =>
      (await recordsOf(store).findSignInLink(tokenHash, now))?.email
    await recordsOf(store).keepSignInLink(
      {
        userId: ada!.id,
        tokenHash: 'one',
        expiresAt: NOW + 1,
      },
      OPERATOR,
    )
    await recordsOf(store).keepSignInLink(
      {
        userId: bob!.id,
        tokenHash: 'two',
        expiresAt: NOW + 1,
      },
      OPERATOR,
    )
    assert.deepEqual([await found('one'), await found('two')], [ada!.email, bob!.email])
    assert.equal(await found('one', NOW + 1), undefined)
    assert.equal(await recordsOf(store).useSignInLink('one', 'hash', operatorAt(NOW + 1)), null)
    await recordsOf(store).keepSignInLink(
      {
        userId: ada!.id,
        tokenHash: 'three',
        expiresAt: NOW + 1,
      },
      OPERATOR,
    )
    assert.deepEqual([await found('one'), await found('three')], [undefined, ada!.email])
  })

  test('exactly one of four callers that use a link sets the password', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    await recordsOf(store).setPassword(ada!.id, 'old', OPERATOR)
    const session = { userId: ada!.id, tokenHash: 's', userAgent: '', address: '' }
    const times = { startedAt: NOW, expiresAt: NOW + 9 }
    assert.ok(await recordsOf(store).beginSession({ ...session, ...times }, 'old', null))
    await recordsOf(store).keepSignInLink(
      {
        userId: ada!.id,
        tokenHash: 'link',
        expiresAt: NOW + 1,
      },
      OPERATOR,
    )
    const used = await Promise.all(
      [store, second, store, second].map((one, index) =>
        recordsOf(one).useSignInLink('link', `new ${index}`, OPERATOR),
      ),
    )
    assert.deepEqual(tally(used.map(String)), { [ada!.email]: 1, null: 3 })
    const winner = used.findIndex((email) => email !== null)
    assert.equal(await recordsOf(store).findPasswordHash(ada!.id), `new ${winner}`)
    assert.equal(await recordsOf(store).findSession(['s'], NOW), null)
  })

  test('every new password of the user ends the link', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    for (const change of [
      () => recordsOf(store).setPassword(ada!.id, 'first', OPERATOR),
      () => recordsOf(store).changePassword(ada!.id, 'first', 'second', OPERATOR),
    ]) {
      await recordsOf(store).keepSignInLink(
        {
          userId: ada!.id,
          tokenHash: 'link',
          expiresAt: NOW + 1,
        },
        OPERATOR,
      )
      await change()
      assert.equal(await recordsOf(store).findSignInLink('link', NOW), null)
    }
  })

  test('exactly one of four callers that sign in by a link gets a session, and no password', async (t) => {
    const { store, openSecond, read } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    const link = { userId: ada!.id, tokenHash: 'one', expiresAt: NOW + 9 }
    await recordsOf(store).keepSignInLink(link, OPERATOR)
    const draft = { userAgent: '', address: '', startedAt: NOW, expiresAt: NOW + 9 }
    const begun = await Promise.all(
      [store, second, store, second].map(({ database }, index) =>
        signInLinks(database).beginLinkedSession('one', { ...draft, tokenHash: `s${index}` }),
      ),
    )
    assert.deepEqual(
      begun.filter((one) => one !== null),
      [ada!.id],
    )
    assert.equal((await read('SELECT id FROM sessions')).length, 1)
    assert.deepEqual(await read('SELECT hash FROM passwords'), [])
  })
}
