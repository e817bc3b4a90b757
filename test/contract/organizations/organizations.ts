import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ORGANIZATIONS_MAX } from '../../../src/organizations/organization.ts'
import type { OpenFixture, StoreFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, fields, join, register, tally } from '../people.ts'
import { removeServer } from '../../fixtures/changed-servers.ts'
import { organizations } from '../../../src/organizations/records/organizations.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

export function organizationsContract(open: OpenFixture): void {
  test('an organization belongs to the user who made it and counts its servers', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!, { slug: 'guild', name: 'The Guild' })
    const made = { id, slug: 'guild', name: 'The Guild', role: 'owner' }
    assert.deepEqual(await recordsOf(store).listOrganizations(ada!.id), [{ ...made, servers: 0 }])
    assert.deepEqual(await recordsOf(store).listOrganizations(bob!.id), [])

    await join(store, id, ada!, bob!)
    await register(store, ada!)
    await register(store, ada!, { organization_id: id })
    await register(store, bob!, { organization_id: id })
    const members = [ada!, bob!].map((user) => recordsOf(store).listOrganizations(user.id))
    assert.deepEqual(await Promise.all(members), [
      [{ ...made, servers: 2 }],
      [{ ...made, role: 'member', servers: 2 }],
    ])
  })

  test('a taken slug is refused and leaves no trace', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await addOrganization(store, ada!, { slug: 'guild', name: 'First' })
    const again = { id: randomUUID(), slug: 'guild', name: 'Second' }
    for (const { id } of [ada!, bob!])
      assert.equal(await recordsOf(store).insertOrganization(id, again, OPERATOR), 'slug taken')
    assert.deepEqual(await namesOf(store, ada!.id), ['First'])
    assert.deepEqual(await namesOf(store, bob!.id), [])
  })

  test('exactly one of ten callers that take one slug at once gets it', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const users = await addUsers(store, ...Array.from({ length: 10 }, (_, index) => `u${index}`))
    const made = await Promise.all(
      users.map(({ id }, index) =>
        organizations((index % 2 === 0 ? store : second).database).insertOrganization(
          id,
          { id: randomUUID(), slug: 'guild', name: 'Guild' },
          OPERATOR,
        ),
      ),
    )
    assert.deepEqual(tally(made), { made: 1, 'slug taken': 9 })
    assert.deepEqual(await namesOf(store, users[made.indexOf('made')]!.id), ['Guild'])
  })

  limitContract(open)
  removalContract(open)
  ensuringContract(open)
}

function limitContract(open: OpenFixture): void {
  test('the limit of ORGANIZATIONS_MAX per user is checked before the slug', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    await addOrganization(store, bob!, { slug: 'taken' })
    const made = await Promise.all(
      Array.from({ length: ORGANIZATIONS_MAX + 10 }, (_, index) => {
        const organization = { id: randomUUID(), slug: `guild-${index}`, name: 'Guild' }
        return organizations((index % 2 === 0 ? store : second).database).insertOrganization(
          ada!.id,
          organization,
          OPERATOR,
        )
      }),
    )
    assert.deepEqual(tally(made), { made: ORGANIZATIONS_MAX, 'too many': 10 })
    const taken = { id: randomUUID(), slug: 'taken', name: 'Guild' }
    assert.equal(await recordsOf(store).insertOrganization(ada!.id, taken, OPERATOR), 'too many')
    assert.equal((await recordsOf(store).listOrganizations(ada!.id)).length, ORGANIZATIONS_MAX)

    const [first] = await recordsOf(store).listOrganizations(ada!.id)
    assert.ok(await recordsOf(store).removeOrganization(ada!.id, first!.id, OPERATOR))
    await addOrganization(store, ada!)
  })

  test('organizations are listed by name, then by slug, both by character codes', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    for (const [slug, name] of [
      ['c', 'b'],
      ['b', 'a'],
      ['a-b', 'Ä'],
      ['ab', 'Ä'],
      ['e', 'B'],
    ] as const)
      await addOrganization(store, ada!, { slug, name })
    const listed = await recordsOf(store).listOrganizations(ada!.id)
    assert.deepEqual(
      listed.map(({ slug }) => slug),
      ['e', 'b', 'c', 'a-b', 'ab'],
    )
  })
}

function removalContract(open: OpenFixture): void {
  test('removing an organization without servers removes its members', async (t) => {
    const { store } = await open(t)
    const [ada, bob, eve] = await addUsers(store, 'ada', 'bob', 'eve')
    const id = await addOrganization(store, ada!)
    await join(store, id, ada!, bob!)
    for (const stranger of [bob!, eve!])
      assert.equal(await recordsOf(store).removeOrganization(stranger.id, id, OPERATOR), false)
    assert.equal(await recordsOf(store).removeOrganization(ada!.id, randomUUID(), OPERATOR), false)
    assert.equal(await recordsOf(store).removeOrganization(ada!.id, 'nothing', OPERATOR), false)

    assert.equal(await recordsOf(store).removeOrganization(ada!.id, id, OPERATOR), true)
    assert.deepEqual(await recordsOf(store).listOrganizations(bob!.id), [])
    assert.equal(await recordsOf(store).removeOrganization(ada!.id, id, OPERATOR), false)
  })

  test("an organization with a server can't be removed", async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const [id, other] = [await addOrganization(store, ada!), await addOrganization(store, ada!)]
    const server = await register(store, ada!, { organization_id: id })
    assert.equal(await recordsOf(store).removeOrganization(ada!.id, id, OPERATOR), false)
    assert.equal(await recordsOf(store).removeOrganization(ada!.id, other, OPERATOR), true)
    await removeServer(store.database, ada!.id, server, NOW)
    assert.equal(await recordsOf(store).removeOrganization(ada!.id, id, OPERATOR), true)
  })

  test('a server registered while its organization is removed is not lost', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    for (let round = 0; round < 10; round += 1) {
      const id = await addOrganization(store, ada!)
      await join(store, id, ada!, bob!)
      const [removed, written] = await Promise.all([
        recordsOf(store).removeOrganization(ada!.id, id, OPERATOR),
        recordsOf(second).insertServer(
          bob!.id,
          randomUUID(),
          fields({ organization_id: id }),
          operatorAt(NOW),
        ),
      ])
      assert.equal(written, removed ? 'not found' : 'written')
      const { total } = await recordsOf(store).searchOrganizationServers(bob!.id, id, {
        text: '',
        page: 1,
      })
      assert.equal(total, removed ? 0 : 1)
      if (!removed) await recordsOf(store).removeMember(bob!.id, id, bob!.id, OPERATOR)
    }
  })
}

function ensuringContract(open: OpenFixture): void {
  test('an import makes its organization with its user as owner, or joins it', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const users = await addUsers(store, 'ada', 'bob', 'eve', 'joe')
    const ids = await Promise.all(
      [...users, ...users].map(({ id }, index) =>
        organizations((index % 2 === 0 ? store : second).database).ensureOrganization(
          'guild',
          id,
          operatorAt(presentInstant()),
        ),
      ),
    )
    assert.equal(new Set(ids).size, 1)
    const members = await recordsOf(store).listMembers(users[0]!.id, ids[0]!)
    assert.deepEqual(tally(members.map(({ role }) => role)), { owner: 1, member: 3 })
  })
}

async function namesOf(store: StoreFixture['store'], userId: string): Promise<string[]> {
  return (await recordsOf(store).listOrganizations(userId)).map(({ name }) => name)
}
