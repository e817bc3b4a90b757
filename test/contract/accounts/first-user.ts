import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import { addUser, listUsers } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addUsers } from '../people.ts'
import { passwords } from '../../../src/accounts/records/passwords.ts'
import { secrets } from '../../../src/accounts/records/secrets.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

const HASH = 'a hash of a password'

/** The setup link gives the first user a password. */
export function firstUserContract(open: OpenFixture): void {
  test('an installation has accounts as soon as a user has a password', async (t) => {
    const { store } = await open(t)
    const user = await addUser(store)
    assert.equal(await recordsOf(store).hasAccounts(), false)
    await recordsOf(store).setPassword(user.id, HASH, OPERATOR)
    assert.equal(await recordsOf(store).hasAccounts(), true)
    await removeUser(store.database, user.id, OPERATOR)
    assert.equal(await recordsOf(store).hasAccounts(), false)
  })

  test('the setup token makes one user and expires', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = [createUser('ada@example.com'), createUser('bob@example.com')]
    const token = await recordsOf(store).keepSecret('setup', 'token')
    assert.equal(await recordsOf(store).insertFirstUser(ada, HASH, token, OPERATOR), ada.id)
    assert.deepEqual(await recordsOf(store).findPassword(ada.email), {
      userId: ada.id,
      hash: HASH,
    })
    assert.equal(await recordsOf(store).findSecret('setup'), null)
    assert.equal(await recordsOf(store).insertFirstUser(bob, HASH, token, OPERATOR), null)
    assert.deepEqual(await listUsers(store), [ada])
  })

  test('the setup token gives an existing user without a password one', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await recordsOf(store).keepSecret('setup', 'token')
    const again = { ...createUser(ada!.email), created_at: NOW + 1 }
    assert.equal(await recordsOf(store).insertFirstUser(again, HASH, 'token', OPERATOR), ada!.id)
    assert.equal(await recordsOf(store).findPasswordHash(ada!.id), HASH)
    assert.equal(await recordsOf(store).findPasswordHash(bob!.id), null)
    assert.deepEqual(await listUsers(store), [ada, bob])
  })

  test('a wrong setup token makes no user, and the right one still works', async (t) => {
    const { store } = await open(t)
    const ada = createUser('ada@example.com')
    assert.equal(await recordsOf(store).insertFirstUser(ada, HASH, 'token', OPERATOR), null)
    await recordsOf(store).keepSecret('setup', 'token')
    for (const wrong of ['', 'TOKEN', 'token2', 'setup'])
      assert.equal(await recordsOf(store).insertFirstUser(ada, HASH, wrong, OPERATOR), null)
    assert.deepEqual(await recordsOf(store).listUserRecords(), [])
    assert.equal(await recordsOf(store).insertFirstUser(ada, HASH, 'token', OPERATOR), ada.id)
  })

  test('the value of another secret is no setup token', async (t) => {
    const { store, execute } = await open(t)
    await execute(`INSERT INTO secrets VALUES ('another', 'secret')`)
    await recordsOf(store).keepSecret('setup', 'token')
    const ada = createUser('ada@example.com')
    assert.equal(await recordsOf(store).insertFirstUser(ada, HASH, 'secret', OPERATOR), null)
    assert.equal(await recordsOf(store).insertFirstUser(ada, HASH, 'token', OPERATOR), ada.id)
  })

  test('the setup token does nothing once a user can sign in', async (t) => {
    const { store, execute } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await recordsOf(store).setPassword(ada!.id, HASH, OPERATOR)
    await execute(`INSERT INTO secrets VALUES ('setup', 'token')`)
    for (const user of [bob!, createUser('eve@example.com')])
      assert.equal(await recordsOf(store).insertFirstUser(user, HASH, 'token', OPERATOR), null)
    assert.equal(await recordsOf(store).findPasswordHash(bob!.id), null)
    assert.deepEqual(await listUsers(store), [ada, bob])
  })

  concurrentCallers(open)
}

function concurrentCallers(open: OpenFixture): void {
  test('exactly one of ten callers with the setup token becomes the first user', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    await recordsOf(store).keepSecret('setup', 'token')
    const users = Array.from({ length: 10 }, (_, index) => createUser(`u${index}@example.com`))
    const inserted = await Promise.all(
      users.map((user, index) =>
        passwords((index % 2 === 0 ? store : second).database).insertFirstUser(
          user,
          HASH,
          'token',
          OPERATOR,
        ),
      ),
    )
    const [winner, ...others] = users.filter(({ id }) => inserted.includes(id))
    assert.deepEqual(others, [])
    assert.deepEqual(await listUsers(store), [winner])
  })

  test('all callers that store a secret at once get the same one', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const kept = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        secrets((index % 2 === 0 ? store : second).database).keepSecret('setup', `token ${index}`),
      ),
    )
    assert.equal(new Set(kept).size, 1)
    assert.equal(await recordsOf(store).findSecret('setup'), kept[0])
    assert.equal(await recordsOf(second).keepSecret('setup', 'another'), kept[0])
  })
}
