import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { disabledUsers } from '../../../src/accounts/records/disabled-users.ts'
import type { User } from '../../../src/accounts/user.ts'
import { columnsOf, insertGiven } from '../../../src/database/given-rows.ts'
import type { Database } from '../../../src/database/database.ts'
import { unusedApiKeys } from '../../../src/directory/records/unused-keys.ts'
import { apiKeys } from '../../../src/keys/records/api-keys.ts'
import type { OpenFixture } from '../fixture.ts'
import { addUsers, OPERATOR } from '../people.ts'
import { NOW } from '../../fixtures/clock.ts'

const SINCE = NOW - 1_000_000
const KEY = columnsOf({
  uuid: 'id user_id',
  text: 'name prefix',
  bytes: 'key_hash',
  instant: 'created_at',
})
const LAST_USE = columnsOf({ uuid: 'id', instant: 'last_used_at' })

/** Keys that work and that no program uses. */
export function unusedKeysContract(open: OpenFixture): void {
  test('keys without a use since an instant are counted, the longest idle ones listed first', async (t) => {
    const { store } = await open(t)
    const { database } = store
    const [ada, bob, cem] = await addUsers(store, 'ada', 'bob', 'cem')
    const added = [
      keyOf(ada!, 'old and used', SINCE - 30),
      keyOf(ada!, 'idle', SINCE - 40),
      keyOf(bob!, 'never used', SINCE - 10),
      keyOf(bob!, 'new', SINCE),
      keyOf(bob!, 'revoked', SINCE - 50),
      keyOf(cem!, 'disabled', SINCE - 60),
    ]
    await addKeys(database, added)
    const [used, idle, , , revoked] = added
    await database.transact((transaction) =>
      transaction.runGiven(
        LAST_USE,
        [
          { id: used!.id, last_used_at: SINCE },
          { id: idle!.id, last_used_at: SINCE - 1 },
        ],
        database.dialect.recordLastUses,
      ),
    )
    await apiKeys(database).revokeApiKey(bob!.id, revoked!.id, OPERATOR)
    await disabledUsers(database).setDisabled(cem!.id, true, OPERATOR)

    const { countUnused } = unusedApiKeys(database)
    const { count, isMore, longest } = await countUnused(SINCE, 9)
    assert.deepEqual([count, isMore], [2, false])
    assert.deepEqual(
      longest.map(({ name, email, last_used_at }) => [name, email, last_used_at]),
      [
        ['never used', 'bob@example.com', null],
        ['idle', 'ada@example.com', SINCE - 1],
      ],
    )
    const one = await countUnused(SINCE, 1)
    assert.deepEqual([one.count, one.longest.map(({ name }) => name)], [2, ['never used']])
    assert.deepEqual(await countUnused(SINCE - 99, 9), { count: 0, isMore: false, longest: [] })
  })

  test('a count examines a bounded number of keys and says if there are more', async (t) => {
    const { store } = await open(t)
    const { database } = store
    const { countUnused } = unusedApiKeys(database, { max: 6, together: 2 })
    const owners = await addUsers(store, 'ada', 'bob')
    const keys = [...owners, ...owners, ...owners].map((user, index) =>
      keyOf(user, `key ${index}`, SINCE - 9 + index),
    )
    await addKeys(database, keys)
    const all = await countUnused(SINCE, 2)
    assert.deepEqual(
      [all.count, all.isMore, all.longest.map(({ name }) => name)],
      [6, false, ['key 0', 'key 1']],
    )
    await addKeys(database, [keyOf(owners[0]!, 'one more', SINCE - 1)])
    const more = await countUnused(SINCE, 1)
    assert.deepEqual([more.count, more.isMore], [6, true])
  })
}

const keyOf = ({ id: user_id }: Pick<User, 'id'>, name: string, created_at: number) => ({
  id: randomUUID(),
  user_id,
  name,
  prefix: 'svc_live_0000000',
  key_hash: crypto.getRandomValues(new Uint8Array(32)),
  created_at,
})

async function addKeys(database: Database, keys: readonly object[]): Promise<void> {
  await database.transact((transaction) => insertGiven(transaction, 'api_keys', KEY, keys))
}
