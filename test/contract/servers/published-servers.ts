import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { OpenFixture } from '../fixture.ts'
import { addOrganization, addUsers, fields, register } from '../people.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

export function publishedContract(open: OpenFixture): void {
  test('a published personal server is found by its id, with its eight fields', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const given = { name: 'Lagoon', slug: 'lagoon', version: '1.21.4', listing_kind: 'realm' }
    const id = await register(store, ada!, given)
    const { organization_id: _, ...shown } = fields(given)
    const found = await recordsOf(store).findPublishedServer(id)
    assert.ok(found !== null)
    assert.deepEqual(found, { id, ...shown })
    assert.deepEqual(Object.keys(found), [
      'id',
      'name',
      'slug',
      'address',
      'edition',
      'status',
      'version',
      'listing_kind',
    ])
  })

  test('a server with any other status, or of an organization, is not found', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const organization_id = await addOrganization(store, ada!)
    for (const hidden of [
      { organization_id },
      ...['draft', 'archived', 'Published', 'published2'].map((status) => ({ status })),
    ]) {
      const id = await register(store, ada!, hidden)
      assert.equal(await recordsOf(store).findPublishedServer(id), null, JSON.stringify(hidden))
    }
  })

  test('a server is found from its publication until it is a draft or deleted', async (t) => {
    const { store, openSecond } = await open(t)
    const second = await openSecond()
    const [ada] = await addUsers(store, 'ada')
    const id = await register(store, ada!, { status: 'draft' })
    const isFound = async () => (await recordsOf(second).findPublishedServer(id)) !== null
    const update = (status: string) =>
      recordsOf(store).updateServer(ada!.id, id, fields({ status }), operatorAt(NOW))
    assert.equal(await isFound(), false)
    await update('published')
    assert.equal(await isFound(), true)
    await update('draft')
    assert.equal(await isFound(), false)
    await update('published')
    await recordsOf(store).changeServers(
      ada!.id,
      { id: randomUUID(), becomes: null, servers: [id] },
      operatorAt(NOW),
    )
    assert.equal(await isFound(), false)
  })

  test('no text but the id of a server finds one', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const id = await register(store, ada!)
    const others = [
      id.toUpperCase(),
      '',
      'x',
      '%',
      ' ',
      '\0',
      `${id} `,
      `{${id}}`,
      id.slice(1),
      `${id}0`,
    ]
    for (const text of [...others, "' OR 1=1 --", randomUUID(), id.replaceAll('-', '')])
      assert.equal(await recordsOf(store).findPublishedServer(text), null, JSON.stringify(text))
  })
}
