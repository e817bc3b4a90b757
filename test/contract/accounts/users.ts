import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUser } from '../../../src/accounts/user.ts'
import { addUser, listUsers } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, tally } from '../people.ts'
import { users } from '../../../src/accounts/records/users.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

export function usersContract(open: OpenFixture): void {
  test('a user is found by email, and a taken email is refused', async (t) => {
    const { store } = await open(t)
    const user = await addUser(store, 'ada@example.com')
    assert.deepEqual(await recordsOf(store).findUser('ada@example.com'), user)
    assert.equal(await recordsOf(store).findUser('bob@example.com'), null)
    assert.equal(await recordsOf(store).insertUser(createUser('ada@example.com'), OPERATOR), false)
    assert.deepEqual(await listUsers(store), [user])
  })

  test('an email is found only exactly as stored', async (t) => {
    const { store } = await open(t)
    await addUser(store, 'ada@example.com')
    assert.equal(await recordsOf(store).findUser('ADA@example.com'), null)
    assert.equal(await recordsOf(store).findUser('%'), null)
  })

  test('the instant of a sign-up is stored to the microsecond', async (t) => {
    const { store } = await open(t)
    const user = { ...createUser('ada@example.com'), created_at: NOW + 123_457 }
    assert.ok(await recordsOf(store).insertUser(user, OPERATOR))
    assert.deepEqual(await recordsOf(store).findUser(user.email), user)
    assert.deepEqual(await listUsers(store), [user])
  })

  test('exactly one of ten callers that add one email succeeds', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const listed = Array.from({ length: 10 }, () => createUser('ada@example.com'))
    const inserted = await Promise.all(
      listed.map((user, index) =>
        users((index % 2 === 0 ? store : second).database).insertUser(user, OPERATOR),
      ),
    )
    assert.deepEqual(tally(inserted), { true: 1, false: 9 })
    assert.deepEqual(await listUsers(store), [listed[inserted.indexOf(true)]])
  })
}
