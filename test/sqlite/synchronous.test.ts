import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { presentInstant } from '../../src/model/instant.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { slotOf } from '../../src/model/usage-counts.ts'
import type { Store } from '../../src/database/store.ts'
import { addOrganization, addUsers, register } from '../contract/people.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { issueKey } from '../fixtures/service.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { recordsOf } from '../fixtures/records.ts'
import { usageCounts } from '../../src/keys/records/usage-counts.ts'

const NORMAL = 1
const FULL = 2

/*
 * One setting of each connection decides what survives a power loss. The slower
 * test/reliability/system/power-loss.system.ts replays the losses themselves.
 */

test('a service commits claims with NORMAL and all other changes with FULL', async (t) => {
  const connections = watchConnections(t)
  const store = await openServingSqliteStore(join(temporaryFolder(t), 'listing.db'))
  t.after(() => store.close())
  const id = await changeEverything(store)
  const count = { api_key_id: id, slot: slotOf(presentInstant()) }
  await usageCounts(store.counting).addUsageCounts([
    { ...count, answered: 1, limited: 0, revoked: 0 },
  ])
  for (const table of ['recent_claims', 'usage_counts'])
    assert.equal(levelOf(connections, table), NORMAL)
  for (const table of CHANGED) assert.equal(levelOf(connections, table), FULL, table)
})

test('a command commits with FULL', async (t) => {
  const connections = watchConnections(t)
  const store = await openSqliteStore(join(temporaryFolder(t), 'listing.db'), { create: true })
  t.after(() => store.close())
  await changeEverything(store)
  for (const table of CHANGED) assert.equal(levelOf(connections, table), FULL, table)
})

const CHANGED = [
  'users',
  'passwords',
  'sessions',
  'api_keys',
  'servers',
  'organizations',
  'members',
]

/** Statements are prepared when they are first used. Returns the id of a key. */
async function changeEverything(store: Store): Promise<string> {
  const [user] = await addUsers(store, 'ada')
  const [userId, startedAt] = [user!.id, presentInstant()]
  await recordsOf(store).setPassword(userId, 'hash', operatorAt(presentInstant()))
  const session = {
    userId,
    tokenHash: 'token',
    userAgent: '',
    address: '',
    startedAt,
    expiresAt: startedAt + 1,
  }
  assert.equal(await recordsOf(store).beginSession(session, 'hash', null), true)
  const { id } = await issueKey(store, user!)
  await register(store, user!)
  await addOrganization(store, user!)
  return id
}

/** Each prepared statement with its connection. */
function watchConnections(t: TestContext): Map<string, DatabaseSync> {
  const connections = new Map<string, DatabaseSync>()
  const { prepare } = DatabaseSync.prototype
  t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
    connections.set(sql, this)
    return prepare.call(this, sql)
  })
  return connections
}

/** The synchronous level of the connection that inserts rows into a table. */
function levelOf(connections: Map<string, DatabaseSync>, table: string): unknown {
  const inserts = [...connections].filter(([sql]) =>
    new RegExp(`^\\s*INSERT INTO ${table}\\b`).test(sql),
  )
  const open = inserts.filter(([, connection]) => connection.isOpen)
  assert.notEqual(open.length, 0, table)
  const levels = open.map(([, connection]) =>
    Number(connection.prepare('PRAGMA synchronous').get()?.synchronous),
  )
  assert.equal(new Set(levels).size, 1, table)
  return levels[0]
}
