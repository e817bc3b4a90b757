import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { createUser } from '../../../src/accounts/user.ts'
import { addOwner, addUser } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from '../keys/claim.ts'
import { OPERATOR, NOW } from '../people.ts'
import {
  applyAll,
  complaintsOf,
  declare,
  exported,
  linesOf,
  newKey,
  plan,
  stored,
} from './declared.ts'
import { users } from '../../../src/accounts/records/users.ts'
import { operator } from '../../../src/directory/records/operator.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'

const iso = (instant: number) => new Date(instant / 1_000).toISOString()

/** Which user a record of a state file means, and what it changes about the user. */
export function namedUsersContract(open: OpenFixture): void {
  test('the external id names a user first, then the id, then the address', async (t) => {
    const { store } = await open(t)
    const [ada, bob, cid] = [
      createUser('ada@example.com', '1'),
      createUser('bob@example.com'),
      createUser('cid@example.com'),
    ]
    for (const user of [ada, bob, cid])
      assert.ok(await users(store.database).insertUser(user, OPERATOR))
    const state = declare({
      users: [
        { external_id: '1', email: 'new-ada@example.com' },
        { id: bob.id, email: 'new-bob@example.com' },
        { email: 'cid@example.com', external_id: '3' },
      ],
    })
    assert.deepEqual(linesOf(await plan(store, state)), [
      '~ user new-ada@example.com email "ada@example.com" → "new-ada@example.com"',
      '~ user new-bob@example.com email "bob@example.com" → "new-bob@example.com"',
      '~ user cid@example.com external_id null → "3"',
    ])
    assert.deepEqual(await applyAll(store, state), [])
    const listed = new Map((await stored(store)).users.map((user) => [user.id, user]))
    assert.equal(listed.size, 3)
    assert.equal(listed.get(ada.id)!.email, 'new-ada@example.com')
    assert.equal(listed.get(bob.id)!.email, 'new-bob@example.com')
    assert.equal(listed.get(cid.id)!.external_id, '3')
    assert.deepEqual(linesOf(await plan(store, state, { prune: true })), [])
    const actions = (await operator(store.database).listAudit(9)).map(({ action }) => action)
    assert.deepEqual(actions.filter((action) => action !== 'user added').toSorted(), [
      'e-mail changed',
      'e-mail changed',
      'external id changed',
    ])
  })

  test('an address, id or external id that means another user is a mistake', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = [createUser('ada@example.com', '1'), createUser('bob@example.com', '2')]
    for (const user of [ada, bob]) assert.ok(await users(store.database).insertUser(user, OPERATOR))
    const swapped = declare({
      users: [
        { external_id: '1', email: 'bob@example.com' },
        { external_id: '2', email: 'ada@example.com' },
      ],
    })
    assert.deepEqual(await complaintsOf(store, swapped), [
      `users[0].email: is the address of another user, whose id is ${bob.id} and external id "2". Change the address of that user first, in a run of its own`,
      `users[1].email: is the address of another user, whose id is ${ada.id} and external id "1". Change the address of that user first, in a run of its own`,
    ])
    const wrong = declare({
      users: [
        { external_id: '3', email: 'ada@example.com' },
        { external_id: '2', id: ada.id },
        { id: crypto.randomUUID() },
      ],
    })
    const complaints = await complaintsOf(store, wrong)
    assert.match(complaints[0]!, /^users\[0\]\.email: is the address of another user, .*"1"\. /)
    assert.equal(
      complaints[1],
      `users[1].id: must be the id of bob@example.com, ${bob.id}, or be left out`,
    )
    assert.equal(complaints[2], 'users[2]: needs an "email" or an "external_id"')
    assert.equal(complaints.length, 3)
  })

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
    assert.match(before, /"members": \[\s+\{\s+"external_id": "1",\s+"role": "owner"/)
    assert.deepEqual(linesOf(await plan(store, declare(JSON.parse(before)), { prune: true })), [])
    const away = declare({ users: [{ external_id: '2', email: null }] })
    assert.deepEqual(linesOf(await plan(store, away)), ['~ user 2 email "bob@example.com" → null'])
    await applyAll(store, away)
    const { users } = await stored(store)
    assert.deepEqual(
      users.map(({ email }) => email),
      [null, null],
    )
  })

  test('disabled_at disables and enables a user, and the first instant stays', async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    const since = (disabled_at: number | null) =>
      declare({ users: [{ email: user.email, disabled_at: disabled_at && iso(disabled_at) }] })
    await applyAll(store, since(NOW - 2_000))
    assert.equal((await claim(store, key)).outcome, 'revoked')
    assert.deepEqual(linesOf(await plan(store, since(NOW - 1_000))), [])
    assert.deepEqual(linesOf(await plan(store, declare({ users: [{ email: user.email }] }))), [])
    assert.equal((await stored(store)).users[0]!.disabled_at, NOW - 2_000)
    assert.deepEqual(linesOf(await plan(store, since(null))), [`~ user ${user.email} enabled`])
    await applyAll(store, since(null))
    assert.equal((await claim(store, key)).outcome, 'granted')
  })

  test('a listed hash comes back revoked, the plan says so, and a second run has no change', async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    const state = declare(JSON.parse(await exported(store)))
    await removeUser(store.database, user.id, OPERATOR)
    const planned = await plan(store, state)
    assert.match(linesOf(planned).find((line) => line.includes('key'))!, /, revoked$/)
    assert.equal(planned[0]!.keptRevoked.length, 1)
    await applyAll(store, state)
    assert.equal((await claim(store, key)).outcome, 'revoked')
    const again = await plan(store, state, { prune: true })
    assert.deepEqual(linesOf(again), [])
    assert.equal(again[0]!.keptRevoked.length, 1)
    // It does not count as one of the five active keys.
    const five = Array.from({ length: 5 }, () => newKey().fields)
    const key_hash = hashApiKey(key).toString('hex')
    const more = declare({
      users: [{ email: user.email, keys: [{ name: 'back', key_hash }, ...five] }],
    })
    await applyAll(store, more)
    assert.equal((await stored(store)).keys.filter((one) => one.revoked_at === null).length, 5)
  })

  test('a user who takes an address between plan and transaction is not changed', async (t) => {
    const { store } = await open(t)
    const state = declare({ users: [{ external_id: '1', email: 'ada@example.com' }] })
    const confirmed = await plan(store, state)
    await addUser(store, 'ada@example.com')
    assert.deepEqual(await applyAll(store, state, { confirmed }), ['ada@example.com'])
    assert.equal((await stored(store)).users[0]!.external_id, null)
  })
}
