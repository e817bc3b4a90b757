import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAGE_SIZE, SORT_COLUMNS, type ServerSearch } from '../../../src/servers/server-search.ts'
import type { OpenFixture } from '../fixture.ts'
import { addUsers, register } from '../people.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** The order, the filter and the counts of a search. */
export function sortContract(open: OpenFixture): void {
  test('a search sorts by each column, and equal values keep the order of the listing', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await register(
      store,
      ada!,
      { name: 'b 10', address: 'c', edition: 'java', version: '1.9' },
      NOW,
    )
    await register(
      store,
      ada!,
      { name: 'a', address: 'b', edition: 'bedrock', status: 'x' },
      NOW - 1,
    )
    await register(
      store,
      ada!,
      { name: 'B 9', address: 'a', edition: 'java', version: '1.10' },
      NOW - 2,
    )
    await register(store, ada!, { name: 'ä', address: 'a', status: 'draft' }, NOW - 3)
    const wanted = {
      name: ['a', 'ä', 'B 9', 'b 10'],
      address: ['B 9', 'ä', 'a', 'b 10'],
      edition: ['a', 'ä', 'b 10', 'B 9'],
      status: ['ä', 'b 10', 'B 9', 'a'],
      changed: ['ä', 'B 9', 'a', 'b 10'],
    }
    for (const column of SORT_COLUMNS) {
      const names = async (descending: boolean) => {
        const search = { text: '', page: 1, sort: { column, descending } }
        const { servers, total } = await recordsOf(store).searchServers(ada!.id, search)
        assert.equal(total, 4)
        return servers.map(({ name }) => name)
      }
      assert.deepEqual(await names(false), wanted[column], column)
      if (column !== 'address' && column !== 'status')
        assert.deepEqual(await names(true), wanted[column].toReversed(), column)
    }
    const search = { text: '', page: 1, sort: { column: 'address', descending: true } } as const
    const { servers } = await recordsOf(store).searchServers(ada!.id, search)
    assert.deepEqual(
      servers.map(({ name, rank }) => [name, rank]),
      [
        ['b 10', 1],
        ['a', 2],
        ['B 9', 3],
        ['ä', 4],
      ],
    )
  })

  test('a search filters by status and counts every status', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = Array.from({ length: 3 * PAGE_SIZE }, (_, index) => ({
      name: `Server ${index}`,
      address: `s${index}.example.com`,
      status: index < 60 ? 'draft' : index === 60 ? 'archived' : 'published',
      updated_at: NOW - index,
    }))
    await recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW))
    const counts = { published: 89, draft: 60, other: 1 }
    const search = (asked: Partial<ServerSearch>) =>
      recordsOf(store).searchServers(ada!.id, { text: '', page: 1, ...asked })
    const drafts = await search({ status: 'draft', page: 2 })
    assert.deepEqual([drafts.servers.length, drafts.total, drafts.counts], [10, 60, counts])
    const other = await search({ status: 'other' })
    assert.deepEqual(
      other.servers.map(({ name, rank }) => [name, rank]),
      [['Server 60', 61]],
    )
    const found = await search({ status: 'draft', text: '5' })
    assert.deepEqual([found.total, found.counts], [15, counts])
    for (const page of [1, 3, 4]) {
      const plain = await search({ page })
      assert.deepEqual([plain.total, plain.counts], [150, counts])
      assert.deepEqual(
        plain.servers.map(({ rank }) => rank),
        page === 4 ? [] : Array.from({ length: 50 }, (_, index) => (page - 1) * 50 + index + 1),
      )
    }
  })
}
