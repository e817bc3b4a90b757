import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OWNED_SERVERS_MAX, type OwnedServer } from '../../../src/servers/server.ts'
import { issueKey } from '../../fixtures/service.ts'
import type { OpenFixture } from '../fixture.ts'
import { OPERATOR, addOrganization, addUsers, join, register, saved } from '../people.ts'
import type { operator } from '../../../src/directory/records/operator.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

const byText = (one: string, other: string) => (one < other ? -1 : Number(one > other))
const byId = (servers: readonly OwnedServer[]) => servers.toSorted((a, b) => byText(a.id, b.id))

/** What the operator's commands list, across all users. */
export function inventoryContract(open: OpenFixture): void {
  test('users are listed by email, with what they have and their last sign-in', async (t) => {
    const { store } = await open(t)
    const [bob, ada] = await addUsers(store, 'bob', 'ada')
    await recordsOf(store).setPassword(ada!.id, 'hash', OPERATOR)
    await issueKey(store, bob!)
    const { id } = await issueKey(store, ada!, 'revoked')
    await recordsOf(store).revokeApiKey(ada!.id, id, OPERATOR)
    for (const one of [ada!, ada!]) await register(store, one)
    for (const [action, occurred_at] of [
      ['sign-up', NOW],
      ['sign-in', NOW + 5],
      ['sign-in refused', NOW + 9],
    ] as const)
      await recordsOf(store).writeAudit({
        user_id: ada!.id,
        action,
        subject: '',
        address: '',
        occurred_at,
      })
    const none = { can_sign_in: false, last_sign_in_at: null }
    assert.deepEqual(
      (await recordsOf(store).listUserRecords()).map((one) => ({ ...one })),
      [
        { ...ada, can_sign_in: true, api_keys: 0, servers: 2, last_sign_in_at: NOW + 5 },
        { ...bob, ...none, api_keys: 1, servers: 0 },
      ],
    )
  })

  test('keys of all users or of one are listed with the email address of their owner', async (t) => {
    const { store } = await open(t)
    const [bob, ada] = await addUsers(store, 'bob', 'ada')
    await issueKey(store, bob!, 'first')
    await issueKey(store, ada!, 'second')
    const named = async (userId?: string) =>
      (await recordsOf(store).listOwnedApiKeys(userId)).map(({ name, email }) => [name, email])
    const ofBob = ['first', 'bob@example.com']
    assert.deepEqual(await named(), [['second', 'ada@example.com'], ofBob])
    assert.deepEqual(await named(bob!.id), [ofBob])
  })

  test('servers of all users are listed in pages, the servers of a user together', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!, { slug: 'red' })
    assert.deepEqual(await recordsOf(store).listOwnedServers(null), [])
    const ours = await register(store, ada!, { organization_id })
    const entries = Array.from({ length: OWNED_SERVERS_MAX }, (_, index) => ({
      name: `server ${index}`,
      address: `${index}.example.com`,
    }))
    for (const user of [ada!, bob!])
      await recordsOf(store).saveServers(user.id, null, entries, operatorAt(NOW))
    const listed: OwnedServer[] = []
    for (let last: OwnedServer | null = null; ; last = listed.at(-1)!) {
      const page = await recordsOf(store).listOwnedServers(last)
      listed.push(...page)
      if (page.length < OWNED_SERVERS_MAX) break
    }
    const expected = await Promise.all(
      [ada!, bob!].map(async ({ id, email, external_id }) =>
        (await recordsOf(store).listServers(id)).map((server) => ({
          ...server,
          created_by: id,
          email,
          external_id,
        })),
      ),
    )
    assert.deepEqual(byId(listed), byId(expected.flat()))
    const owners = listed.map(({ created_by }) => created_by)
    assert.deepEqual(owners, owners.toSorted(byText))
    assert.equal(listed.find(({ id }) => id === ours)?.organization, 'red')
  })

  test('organizations are listed by slug, with their owners and counts', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const id = await addOrganization(store, ada!, { slug: 'red', name: 'Red' })
    const other = await addOrganization(store, bob!, { slug: 'blue', name: 'Blue' })
    await join(store, id, ada!, bob!)
    await register(store, bob!, { organization_id: id })
    assert.deepEqual(
      (await recordsOf(store).listOrganizationRecords()).map((one) => ({ ...one })),
      [
        { id: other, slug: 'blue', name: 'Blue', members: 1, servers: 0, owners: [bob!.email] },
        { id, slug: 'red', name: 'Red', members: 2, servers: 1, owners: [ada!.email] },
      ],
    )
  })

  test('the audit log of one user or since an instant is listed', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const entry = { action: 'sign-in', subject: '', address: '' } as const
    for (const [index, user] of [ada!, bob!, ada!].entries())
      await recordsOf(store).writeAudit({
        ...entry,
        user_id: user.id,
        occurred_at: NOW + index,
      })
    const instants = async (filter: Parameters<ReturnType<typeof operator>['listAudit']>[1]) =>
      (await recordsOf(store).listAudit(9, filter))
        .filter(({ action }) => action === 'sign-in')
        .map(({ occurred_at }) => occurred_at - NOW)
    assert.deepEqual(await instants({ userId: ada!.id }), [2, 0])
    assert.deepEqual(await instants({ since: NOW + 1 }), [2, 1])
    assert.deepEqual(await instants({ userId: ada!.id, since: NOW + 1 }), [2])
  })

  test('a preview of an import names the servers in its place that no entry means', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!)
    await register(store, ada!, { slug: 'kept', address: 'a.example.com' })
    await register(store, ada!, { name: 'b', address: 'b.example.com' })
    const gone = await register(store, ada!, { slug: 'gone', address: 'b.example.com' })
    const ours = await register(store, ada!, { organization_id })
    await register(store, bob!)
    const entries = [
      { name: 'a', address: 'new.example.com', slug: 'kept' },
      { name: 'b', address: 'b.example.com' },
      { name: 'c', address: 'c.example.com' },
    ]
    const before = await recordsOf(store).listServers(ada!.id)
    const preview = async (place: string | null) => {
      const { planServers } = recordsOf(store)
      const {
        changes: _,
        fingerprint: _name,
        ...planned
      } = await planServers(ada!.id, place, entries, NOW, { prunes: true })
      return planned
    }
    assert.deepEqual(await preview(null), {
      ...saved({ added: 1, changed: 1, unchanged: 1 }),
      absent: [gone],
      present: 3,
    })
    assert.deepEqual(await preview(organization_id), {
      ...saved({ added: 3 }),
      absent: [ours],
      present: 1,
    })
    assert.deepEqual(await recordsOf(store).listServers(ada!.id), before)
    assert.deepEqual(
      await recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW)),
      saved({ added: 1, changed: 1, unchanged: 1 }),
    )
    assert.deepEqual(await preview(null), {
      ...saved({ unchanged: 3 }),
      absent: [gone],
      present: 4,
    })
    assert.equal(
      await recordsOf(store).removeServers(bob!.id, [gone], operatorAt(presentInstant())),
      0,
    )
    assert.equal(
      await recordsOf(store).removeServers(
        ada!.id,
        [gone, 'no id', ours],
        operatorAt(presentInstant()),
      ),
      2,
    )
    assert.deepEqual((await preview(null)).absent, [])
  })
}
