import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVERS_PART_MAX, type ServerRecord } from '../../../src/servers/server.ts'
import type { OpenFixture } from '../fixture.ts'
import { addOrganization, addUsers, register } from '../people.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'
import { recordsOf } from '../../fixtures/records.ts'
import { NOW } from '../../fixtures/clock.ts'

/** Reading many servers, as an export does. */
export function readingContract(open: OpenFixture): void {
  test('servers are read in parts, in the order of the listing, of one user and one scope', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!, { slug: 'red' })
    await register(store, ada!, { organization_id })
    for (const user of [ada!, bob!])
      await recordsOf(store).saveServers(user.id, null, many(), operatorAt(NOW))
    const listed = await recordsOf(store).listServers(ada!.id)
    const personal = listed.filter(({ organization }) => organization === null)
    for (const [scope, expected] of [
      ['all', listed],
      ['personal', personal],
    ] as const) {
      const parts: ServerRecord[][] = []
      await recordsOf(store).readServers(ada!.id, scope, (servers) => parts.push(servers))
      assert.deepEqual(parts.flat(), expected)
      assert.ok(parts.every(({ length }) => length <= SERVERS_PART_MAX))
    }
    assert.equal(listed.length, personal.length + 1)
    await recordsOf(store).readServers(bob!.id.replace(/^./, 'x'), 'all', () => assert.fail())
  })

  test('servers that go while they are read are read to their end, and other work is done meanwhile', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await recordsOf(store).saveServers(ada!.id, null, many(), operatorAt(NOW))
    const listed = await recordsOf(store).listServers(ada!.id)
    const ids = listed.map(({ id }) => id)
    const read: ServerRecord[] = []
    let [parts, turns] = [0, 0]
    let removing: Promise<number> | undefined
    await recordsOf(store).readServers(ada!.id, 'personal', (servers) => {
      assert.equal(turns, parts, 'the event loop has turned once for each part')
      parts += 1
      setImmediate(() => {
        turns += 1
      })
      removing ??= recordsOf(store).removeServers(ada!.id, ids, operatorAt(presentInstant()))
      read.push(...servers)
    })
    assert.deepEqual(read, listed)
    assert.equal(await removing, ids.length)
    assert.deepEqual(await recordsOf(store).listServers(ada!.id), [])
  })
}

const many = () =>
  Array.from({ length: 2 * SERVERS_PART_MAX + 1 }, (_, index) => ({
    name: `server ${index}`,
    address: `${index}.example.com`,
    updated_at: NOW + (index % 10),
  }))
