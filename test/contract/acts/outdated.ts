import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addOwner } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from '../keys/claim.ts'
import { OPERATOR, addOrganization, addUsers, join, register } from '../people.ts'
import { applyAll, declare, exported, linesOf, newKey, plan } from './declared.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** What a plan has not shown is not done. */
export function outdatedStatesContract(open: OpenFixture): void {
  test('a change that the plan does not have is not made, and nothing else of the user', async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    const ours = newKey()
    const state = declare({
      users: [{ email: user.email, keys: [ours.fields] }],
      put_servers: [],
      all_servers_of: [{ email: user.email }],
      revoke_keys: [{ email: user.email, key_hash: hashApiKey(key).toString('hex') }],
    })
    const confirmed = await plan(store, state)
    // Another program registers a server, which the whole list would delete unseen.
    const id = await register(store, user)
    assert.deepEqual(await applyAll(store, state, confirmed), [user.email])
    assert.equal((await claim(store, key)).outcome, 'granted')
    assert.equal((await claim(store, ours.key)).outcome, 'unknown')
    await recordsOf(store).removeServers(user.id, [id], operatorAt(presentInstant()))
    // A smaller change than the confirmed one is fine.
    const [apiKey] = await recordsOf(store).listApiKeys(user.id)
    await recordsOf(store).revokeApiKey(user.id, apiKey!.id, OPERATOR)
    assert.deepEqual(await applyAll(store, state, confirmed), [])
    assert.equal((await claim(store, ours.key)).outcome, 'granted')
  })

  test('a key that another user gets since the plan leaves the whole record as it is', async (t) => {
    const { store } = await open(t)
    const { user } = await addOwner(store, 'ada@example.com')
    const [wanted, mine] = [newKey(), newKey()]
    const keys = [wanted.fields, mine.fields]
    const state = declare({ users: [{ email: user.email, keys }] })
    const confirmed = await plan(store, state)
    await applyAll(store, declare({ users: [{ email: 'bob@example.com', keys: [wanted.fields] }] }))
    assert.deepEqual(await applyAll(store, state, confirmed), ['put_keys[0]'])
    assert.equal((await claim(store, mine.key)).outcome, 'unknown')
  })

  test('an organization whose other owner leaves since the plan keeps its owner', async (t) => {
    const { store, execute } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const red = await addOrganization(store, ada!, { slug: 'red', name: 'Red' })
    await join(store, red, ada!, bob!)
    await execute("UPDATE members SET role = 'owner'")
    const members = [
      { email: ada!.email, role: 'member' },
      { email: bob!.email, role: 'owner' },
    ]
    const state = declare({
      organizations: [{ slug: 'red', name: 'Red', members }],
      users: [{ email: ada!.email }, { email: bob!.email }],
    })
    // The plan of Bob has no change.
    const confirmed = await plan(store, state)
    assert.deepEqual(linesOf(confirmed), ['~ member ada@example.com of red (owner → member)'])
    await recordsOf(store).removeMember(bob!.id, red, bob!.id, OPERATOR)
    assert.deepEqual(await applyAll(store, state, confirmed), [bob!.email])
    assert.deepEqual(
      (await exported(store)).put_members.map(({ email, role }) => [email, role]),
      [[ada!.email, 'owner']],
    )
  })

  test('two processes that apply one state at once end in that state, without a duplicate', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const keys = Array.from({ length: 12 }, () => newKey())
    const state = declare({
      organizations: [
        { slug: 'red', name: 'Red', members: [{ email: 'u0@example.com', role: 'owner' }] },
      ],
      users: keys.map(({ fields }, index) => ({
        email: `u${index}@example.com`,
        keys: [fields],
        servers: [{ name: 'S', slug: 's', address: 's.example.com' }],
      })),
    })
    await Promise.all([applyAll(store, state), applyAll(second, state)])
    // What was outdated was done by the other process, so a second run finishes.
    await applyAll(store, state)
    assert.deepEqual(linesOf(await plan(store, state)), [])
    const all = await exported(store)
    assert.deepEqual(
      [all.put_users, all.put_servers, all.put_keys, all.put_members].map(({ length }) => length),
      [12, 12, 12, 1],
    )
  })
}
