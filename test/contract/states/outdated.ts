import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addOwner } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { claim } from '../keys/claim.ts'
import { OPERATOR, addOrganization, addUsers, join, register } from '../people.ts'
import { applyAll, declare, linesOf, newKey, plan, stored } from './declared.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** What a plan has not shown is not done. */
export function outdatedStatesContract(open: OpenFixture): void {
  test('a change that the plan does not have is not made, and nothing else of the user', async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    const [ours, other] = [newKey(), newKey()]
    const state = declare({
      users: [{ email: user.email, keys: [ours.fields], servers: [] }],
    })
    const confirmed = await plan(store, state, { prune: true })
    // Another program registers a server, which pruning would delete unseen.
    const id = await register(store, user)
    const outdated = await applyAll(store, state, { prune: true, confirmed })
    assert.deepEqual(outdated, [user.email])
    assert.equal((await claim(store, key)).outcome, 'granted')
    assert.equal((await claim(store, ours.key)).outcome, 'unknown')
    await recordsOf(store).removeServers(user.id, [id], operatorAt(presentInstant()))
    // A smaller change than the confirmed one is fine.
    const [apiKey] = await recordsOf(store).listApiKeys(user.id)
    await recordsOf(store).revokeApiKey(user.id, apiKey!.id, OPERATOR)
    assert.deepEqual(await applyAll(store, state, { prune: true, confirmed }), [])
    assert.equal((await claim(store, ours.key)).outcome, 'granted')
    assert.equal((await claim(store, other.key)).outcome, 'unknown')
  })

  test('a key that another user gets since the plan leaves the whole record as it is', async (t) => {
    const { store } = await open(t)
    const { user } = await addOwner(store, 'ada@example.com')
    const [wanted, mine] = [newKey(), newKey()]
    const keys = [wanted.fields, mine.fields]
    const state = declare({ users: [{ email: user.email, keys }] })
    const confirmed = await plan(store, state)
    await applyAll(store, declare({ users: [{ email: 'bob@example.com', keys: [wanted.fields] }] }))
    assert.deepEqual(await applyAll(store, state, { confirmed }), [user.email])
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
    const confirmed = (await plan(store, state)).filter(({ changes }) => changes.length > 0)
    assert.deepEqual(linesOf(confirmed), ['~ member ada@example.com of red (owner → member)'])
    await recordsOf(store).removeMember(bob!.id, red, bob!.id, OPERATOR)
    assert.deepEqual(await applyAll(store, state, { confirmed }), [ada!.email])
    const { members: left } = await stored(store)
    assert.deepEqual(
      left.map(({ user_id, role }) => [user_id, role]),
      [[ada!.id, 'owner']],
    )
  })

  test('members change together, so that an organization always has an owner', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const red = await addOrganization(store, ada!, { slug: 'red', name: 'Red' })
    const state = declare({
      organizations: [
        { slug: 'red', name: 'Red', members: [{ email: bob!.email, role: 'owner' }] },
      ],
      users: [{ email: ada!.email }, { email: bob!.email }],
    })
    const confirmed = await plan(store, state, { prune: true })
    await join(store, red, ada!, bob!)
    assert.notDeepEqual(await applyAll(store, state, { prune: true, confirmed }), [])
    await applyAll(store, state, { prune: true })
    const { members } = await stored(store)
    assert.deepEqual(
      members.map(({ user_id, role }) => [user_id, role]),
      [[bob!.id, 'owner']],
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
    assert.deepEqual(linesOf(await plan(store, state, { prune: true })), [])
    const all = await stored(store)
    assert.deepEqual(
      [all.users.length, all.servers.length, all.keys.length, all.members.length],
      [12, 12, 12, 1],
    )
  })
}
