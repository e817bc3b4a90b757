import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVERS_PART_MAX, type ServerRecord } from '../../../src/servers/server.ts'
import type { OpenFixture } from '../fixture.ts'
import { addOrganization, addUsers, NOW, register } from '../people.ts'
import { serverImports } from '../../../src/servers/records/server-imports.ts'
import { serverExports } from '../../../src/servers/records/server-exports.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { presentInstant } from '../../../src/model/instant.ts'

/** Reading many servers, as an export does. */
export function readingContract(open: OpenFixture): void {
  test('servers are read in parts, in the order of the listing, of one user and one scope', async (t) => {
    const { store } = await open(t)
    const [ada, bob] = await addUsers(store, 'ada', 'bob')
    const organization_id = await addOrganization(store, ada!, { slug: 'red' })
    await register(store, ada!, { organization_id })
    for (const user of [ada!, bob!])
      await serverImports(store.database).saveServers(user.id, null, many(), operatorAt(NOW))
    const listed = await serverExports(store.database).listServers(ada!.id)
    const personal = listed.filter(({ organization }) => organization === null)
    for (const [scope, expected] of [
      ['all', listed],
      ['personal', personal],
    ] as const) {
      const parts: ServerRecord[][] = []
      await serverExports(store.database).readServers(ada!.id, scope, (servers) =>
        parts.push(servers),
      )
      assert.deepEqual(parts.flat(), expected)
      assert.ok(parts.every(({ length }) => length <= SERVERS_PART_MAX))
    }
    assert.equal(listed.length, personal.length + 1)
    await serverExports(store.database).readServers(bob!.id.replace(/^./, 'x'), 'all', () =>
      assert.fail(),
    )
  })

  test('servers that go while they are read are read to their end, and other work is done meanwhile', async (t) => {
    const { store } = await open(t)
    const [ada] = await addUsers(store, 'ada')
    await serverImports(store.database).saveServers(ada!.id, null, many(), operatorAt(NOW))
    const listed = await serverExports(store.database).listServers(ada!.id)
    const ids = listed.map(({ id }) => id)
    const read: ServerRecord[] = []
    let [parts, turns] = [0, 0]
    let removing: Promise<number> | undefined
    await serverExports(store.database).readServers(ada!.id, 'personal', (servers) => {
      assert.equal(turns, parts, 'the event loop has turned once for each part')
      parts += 1
      setImmediate(() => {
        turns += 1
      })
      removing ??= serverImports(store.database).removeServers(
        ada!.id,
        ids,
        operatorAt(presentInstant()),
      )
      read.push(...servers)
    })
    assert.deepEqual(read, listed)
    assert.equal(await removing, ids.length)
    assert.deepEqual(await serverExports(store.database).listServers(ada!.id), [])
  })
}

const many = () =>
  Array.from({ length: 2 * SERVERS_PART_MAX + 1 }, (_, index) => ({
    name: `server ${index}`,
    address: `${index}.example.com`,
    updated_at: NOW + (index % 10),
  }))
