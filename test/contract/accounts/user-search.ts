import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUser, type User } from '../../../src/accounts/user.ts'
import { USERS_PER_PAGE, userSearch } from '../../../src/directory/records/user-search.ts'
import { issueApiKey } from '../../../src/keys/records/issued-keys.ts'
import type { OpenFixture, StoreFixture } from '../fixture.ts'
import { OPERATOR, register } from '../people.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** An operator's search for users. */
export function userSearchContract(open: OpenFixture): void {
  test('users are found by a part of the address or an id, without case, the newest first', async (t) => {
    const { store } = await open(t)
    const added = [
      createUser('ada@example.com', 'Player_7'),
      createUser('bob@example.net'),
      createUser(null, 'player%8'),
    ].map((user, index) => ({ ...user, created_at: NOW + index }))
    for (const user of added) await recordsOf(store).insertUser(user, OPERATOR)
    const [ada, bob, player] = added.map(({ id }) => id)
    await issueApiKey(store.database, ada!, 'one', OPERATOR)
    await register(store, added[0]!)
    const find = async (text: string) =>
      (await recordsOf(store).searchUsers(text)).users.map(({ id }) => id)
    assert.deepEqual(await find(''), [player, bob, ada])
    assert.deepEqual(await find('EXAMPLE'), [bob, ada])
    assert.deepEqual(await find('pLAyer'), [player, ada])
    assert.deepEqual(await find('r_'), [ada], 'no character stands for others')
    assert.deepEqual(await find('r%'), [player])
    assert.deepEqual(await find('r!'), [])
    assert.deepEqual(await find(bob!.slice(3, 20).toUpperCase()), [bob])
    assert.deepEqual(await find(bob!), [bob])
    const [found] = (await recordsOf(store).searchUsers('ada@')).users
    assert.deepEqual({ ...found }, { ...added[0], apiKeys: 1, servers: 1 })
  })

  test('a user who has exactly the text comes first, and once', async (t) => {
    const { store } = await open(t)
    const exact = { ...createUser('joe@example.com', '7'), created_at: NOW }
    await recordsOf(store).insertUser(exact, OPERATOR)
    const others = await addMany({ store }, USERS_PER_PAGE + 9, 7)
    const first = await recordsOf(store).searchUsers('7')
    assert.deepEqual(first.users[0]!.id, exact.id)
    const second = await recordsOf(store).searchUsers('7', first.next)
    const all = [...first.users, ...second.users].map(({ id }) => id)
    assert.deepEqual(all, [exact.id, ...others.map(({ id }) => id).toReversed()])
    assert.equal(second.next, null)
  })

  test('pages have each user once, also users of one instant', async (t) => {
    const { store } = await open(t)
    const added = await addMany({ store }, 2 * USERS_PER_PAGE + 3, 0, NOW)
    const seen: string[] = []
    let place = null
    for (let page = 0; page < 3; page += 1) {
      const { users, next, isFull } = await recordsOf(store).searchUsers('', place)
      assert.equal(isFull, true)
      seen.push(...users.map(({ id }) => id))
      place = next
    }
    assert.equal(place, null)
    assert.deepEqual(
      seen,
      added
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    )
  })

  test('a search examines a bounded number of users, and goes on where it ended', async (t) => {
    const { store } = await open(t)
    const old = { ...createUser('old@example.com'), created_at: NOW - 1 }
    await recordsOf(store).insertUser(old, OPERATOR)
    await addMany({ store }, 20, 0)
    const { searchUsers } = userSearch(store.database, { max: 20, together: 5 })
    const first = await searchUsers('ld@ex')
    assert.deepEqual([first.users, first.isFull], [[], false])
    const second = await searchUsers('ld@ex', first.next)
    assert.deepEqual(
      second.users.map(({ id }) => id),
      [old.id],
    )
    assert.equal(second.next, null)
    const whole = await searchUsers('old@example.com')
    assert.equal(whole.users[0]!.id, old.id, 'a whole address needs no examination')
  })
}

async function addMany(
  { store }: Pick<StoreFixture, 'store'>,
  count: number,
  digit: number,
  at?: number,
): Promise<User[]> {
  const added = Array.from({ length: count }, (_, index) => ({
    ...createUser(`u${digit}-${index}@example.com`),
    created_at: at ?? NOW + 1 + index,
  }))
  for (const user of added) await recordsOf(store).insertUser(user, OPERATOR)
  return added
}
