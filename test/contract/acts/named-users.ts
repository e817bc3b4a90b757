import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { addOwner, addUser } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from '../keys/claim.ts'
import { OPERATOR } from '../people.ts'
import { applyAll, declare, exported, linesOf, newKey, plan } from './declared.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'

/** Which user a record of a state file means, and what it changes about the user. */
export function namedUsersContract(open: OpenFixture): void {
  test('a user needs no address, and a file can take it away', async (t) => {
    const { store } = await open(t)
    const { key, fields } = newKey()
    const state = declare({
      organizations: [{ slug: 'red', name: 'Red', members: [{ external_id: '1', role: 'owner' }] }],
      users: [
        { external_id: '1', keys: [fields] },
        { external_id: '2', email: 'bob@example.com' },
      ],
    })
    await applyAll(store, state)
    assert.equal((await claim(store, key)).outcome, 'granted')
    const before = await exported(store)
    const [{ external_id, role } = {}] = before.put_members
    assert.deepEqual([external_id, role], ['1', 'owner'])
    assert.deepEqual(linesOf(await plan(store, declare(before))), [])
    const away = declare({ users: [{ external_id: '2', email: null }] })
    assert.deepEqual(linesOf(await plan(store, away)), ['~ user 2 email "bob@example.com" → null'])
    await applyAll(store, away)
    assert.deepEqual(
      (await exported(store)).put_users.map(({ email }) => email),
      [null, null],
    )
  })

  test('a listed hash comes back revoked, the plan says so, and a second run has no change', async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    const state = declare(await exported(store))
    await removeUser(store.database, user.id, OPERATOR)
    const planned = await plan(store, state)
    assert.match(linesOf(planned).find((line) => line.includes('key'))!, /, revoked$/)
    assert.equal(planned.plans[0]!.keptRevoked.length, 1)
    await applyAll(store, state)
    assert.equal((await claim(store, key)).outcome, 'revoked')
    const again = await plan(store, state)
    assert.deepEqual(linesOf(again), [])
    assert.equal(again.plans[0]!.keptRevoked.length, 1)
    // It does not count as one of the five active keys.
    const five = Array.from({ length: 5 }, () => newKey().fields)
    const key_hash = hashApiKey(key).toString('hex')
    const more = declare({
      users: [{ email: user.email, keys: [{ name: 'back', key_hash }, ...five] }],
    })
    await applyAll(store, more)
    const { put_keys } = await exported(store)
    assert.equal(put_keys.filter((one) => one.revoked_at === null).length, 5)
  })

  test('a user who takes an address between plan and transaction is not changed', async (t) => {
    const { store } = await open(t)
    const state = declare({ users: [{ external_id: '1', email: 'ada@example.com' }] })
    const confirmed = await plan(store, state)
    await addUser(store, 'ada@example.com')
    assert.deepEqual(await applyAll(store, state, confirmed), ['ada@example.com'])
    assert.equal((await exported(store)).put_users[0]!.external_id, null)
  })
}
