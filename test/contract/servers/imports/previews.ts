import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVERS_MAX } from '../../../../src/model/server-row.ts'
import { addOwner } from '../../../fixtures/service.ts'
import type { OpenFixture } from '../../fixture.ts'
import { addOrganization, addUsers, register } from '../../people.ts'
import { claim } from '../../keys/claim.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'
import { NOW } from '../../../fixtures/clock.ts'

export function previewsContract(open: OpenFixture): void {
  test("a preview has the rows that a claim of the user's key returns", async (t) => {
    const { store } = await open(t)
    const { user, key } = await addOwner(store, 'ada@example.com')
    const [bob] = await addUsers(store, 'bob')
    const organization_id = await addOrganization(store, user)
    assert.deepEqual(await recordsOf(store).previewListing(user.id), [])
    await register(store, bob!, { name: 'of Bob' })
    await register(store, user, { organization_id, name: 'common' })
    for (const name of ['tie', 'tie']) await register(store, user, { name })
    await register(store, user, { name: 'old', slug: 'old', status: 'draft' }, NOW - 1)
    await register(store, user, { name: 'new', version: '1', listing_kind: 'realm' }, NOW + 1)
    const used = await claim(store, key)
    assert.ok(used.outcome === 'granted' && used.rows?.length === 4)
    const preview = await recordsOf(store).previewListing(user.id)
    assert.deepEqual(
      preview.map((row) => ({ ...row })),
      used.rows.map((row) => ({ ...row })),
    )
    assert.deepEqual(
      preview.map(({ name }) => name),
      ['new', 'tie', 'tie', 'old'],
    )
    assert.ok(preview[1]!.id > preview[2]!.id)
  })

  test('a preview has the newest SERVERS_MAX', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = Array.from({ length: SERVERS_MAX + 1 }, (_, index) => ({
      name: `Server ${index}`,
      address: `s${index}.example.com`,
      updated_at: NOW - index,
    }))
    await recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW))
    assert.deepEqual(
      (await recordsOf(store).previewListing(ada!.id)).map(({ name }) => name),
      entries.slice(0, SERVERS_MAX).map(({ name }) => name),
    )
  })
}
