import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Matching } from '../../../src/servers/server-search.ts'
import type { Becomes } from '../../../src/servers/server-change.ts'
import type { Store } from '../../../src/database/store.ts'
import type { User } from '../../../src/accounts/user.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, join, register } from '../people.ts'
import { serverChanges } from '../../../src/servers/records/server-changes.ts'
import { sql, uuid } from '../../../src/database/sql.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

const DRAFTS = { organization_id: null, text: '', status: 'draft' } as const
const PUBLISHED = { status: 'published' } as const

/** Changes of all servers that match a search. */
export function matchingServersContract(open: OpenFixture): void {
  test('a change of all that match a search changes these servers alone', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const guild = await addOrganization(store, ada!)
    await join(store, guild, ada!, bob!)
    const draft = { status: 'draft', name: 'Lagoon' }
    const inGuild = { ...draft, organization_id: guild }
    const one = await register(store, ada!, draft, NOW - 1)
    const two = await register(store, ada!, { ...draft, name: 'lagoon 2' }, NOW - 2)
    const others = [
      await register(store, ada!, { ...draft, name: 'Reef' }),
      await register(store, ada!, { name: 'Lagoon 3' }),
      await register(store, ada!, inGuild),
      await register(store, bob!, draft),
      await register(store, bob!, inGuild),
    ]
    const lagoons = { ...DRAFTS, text: 'LAGOON', number: 2 }
    const found = await recordsOf(store).findMatching(ada!.id, lagoons)
    assert.deepEqual(
      found?.map(({ id }) => id),
      [one, two],
    )
    const before = await statusesOf(store, others)
    assert.deepEqual(namesOf(await change(store, ada!, lagoons)), ['Lagoon', 'lagoon 2'])
    assert.deepEqual(await statusesOf(store, [one, two]), ['published', 'published'])
    assert.deepEqual(await statusesOf(store, others), before)

    const ofGuild = { organization_id: guild, text: 'lagoon', number: 1 }
    assert.deepEqual(namesOf(await change(store, ada!, ofGuild)), ['Lagoon'])
    assert.deepEqual(await statusesOf(store, others.slice(2)), ['published', 'draft', 'draft'])
  })

  test('if another number of servers match than the user has seen, nothing changes', async (t) => {
    const { store } = await open(t)
    const [ada, eve] = await addUsers(store, 'ada', 'eve')
    const guild = await addOrganization(store, ada!)
    await register(store, ada!, { status: 'draft', organization_id: guild })
    const drafts = [await register(store, ada!, { status: 'draft' })]
    for (const number of [0, 2])
      for (const becomes of [PUBLISHED, null, { organization_id: guild }])
        assert.deepEqual(await change(store, ada!, { ...DRAFTS, number }, becomes), {
          reason: 'other number',
        })
    // A user who is no member finds no server of the organization.
    const ofGuild = { ...DRAFTS, organization_id: guild, number: 1 }
    assert.deepEqual(await change(store, eve!, ofGuild), { reason: 'other number' })
    assert.deepEqual(await statusesOf(store, drafts), ['draft'])
  })

  test('a change of all that match whose id is known is the one that was made', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await register(store, ada!, { status: 'draft' })
    const wanted = { ...DRAFTS, number: 1 }
    const id = randomUUID()
    const made = await change(store, ada!, wanted, PUBLISHED, id)
    assert.deepEqual(namesOf(made), ['Survival'])
    assert.deepEqual(await change(store, ada!, wanted, PUBLISHED, id), made)
  })
}

function change(
  { database }: Store,
  user: User,
  matching: Matching,
  becomes: Becomes = PUBLISHED,
  id: string = randomUUID(),
) {
  return serverChanges(database).changeServers(
    user.id,
    { id, becomes, servers: matching },
    OPERATOR,
  )
}

function namesOf(made: Awaited<ReturnType<typeof change>>): string[] {
  assert.ok('changed' in made, JSON.stringify(made))
  return made.changed.map(({ name }) => name)
}

function statusesOf({ database }: Store, ids: readonly string[]): Promise<(string | undefined)[]> {
  return Promise.all(
    ids.map(async (id) => {
      const rows = await database.all<{ status: string }>(
        sql`SELECT status FROM servers WHERE id = ${uuid(id)}`,
      )
      return rows[0]?.status
    }),
  )
}
