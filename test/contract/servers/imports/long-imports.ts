import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OpenFixture } from '../../fixture.ts'
import { addUsers, saved } from '../../people.ts'
import { operatorAt } from '../../../../src/model/audit.ts'
import { recordsOf } from '../../../fixtures/records.ts'
import { NOW } from '../../../fixtures/clock.ts'

/** How `saveServers` writes more entries than a user may import: tests and sites can. */
export function longImportsContract(open: OpenFixture): void {
  test('an import writes thousands of servers in the order of their entries', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = Array.from({ length: 2_500 }, (_, index) => ({
      name: `Server ${index}`,
      address: `s${index}.example.com`,
      ...(index % 2 === 0 ? { slug: `server-${index}` } : {}),
    }))
    const outcome = await recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW))
    assert.deepEqual(outcome, saved({ added: 2_500 }))
    const listed = (await recordsOf(store).listServers(ada!.id)).toReversed()
    assert.deepEqual(
      listed.map(({ name }) => name),
      entries.map(({ name }) => name),
    )
  })

  test('if the last of a thousand entries cannot be written, none is', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    const entries = Array.from({ length: 1_001 }, (_, index) => ({
      name: index === 1_000 ? (null as unknown as string) : `Server ${index}`,
      address: `s${index}.example.com`,
    }))
    await assert.rejects(recordsOf(store).saveServers(ada!.id, null, entries, operatorAt(NOW)))
    assert.deepEqual(await recordsOf(store).listServers(ada!.id), [])
  })
}
