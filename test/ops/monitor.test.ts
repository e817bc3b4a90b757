import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { createMonitor } from '../../src/ops/monitor.ts'
import type { ServingStore } from '../../src/database/store.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'

const HIDE = 'PRAGMA legacy_alter_table = ON; ALTER TABLE api_keys RENAME TO elsewhere'
const SHOW = 'ALTER TABLE elsewhere RENAME TO api_keys'

test('an outage has one line when it begins and one when it ends', async (t) => {
  const { store, other } = await open(t)
  const { monitor, lines, elapse, claims } = watch(store)
  await monitor.look()
  assert.deepEqual([claims(), lines], ['ok', []])

  other.exec(HIDE)
  for (let count = 0; count < 3; count += 1) {
    await monitor.look()
    elapse(1_500)
  }
  assert.deepEqual(lines, [
    'error: the database is lost, so every key gets 502: keys could not be looked up or claims ' +
      'could not be recorded (no such table: api_keys)',
  ])
  other.exec(SHOW)
  for (let count = 0; count < 2; count += 1) await monitor.look()
  assert.deepEqual(lines.slice(1), ['info: the database is back after 4.5 s'])
})

test('a database that has not answered is not ready, and no outage', async (t) => {
  const { store } = await open(t)
  const { lines, claims, schema } = watch(store)
  assert.match(claims(), /not answered yet/)
  assert.match(schema(), /not answered yet/)
  assert.deepEqual(lines, [])
})

test('a probe without an answer for more than a second is a failed check', async (t) => {
  const { store, other } = await open(t)
  const { monitor, elapse, claims } = watch(store)
  await monitor.look()
  other.exec('BEGIN IMMEDIATE')
  const look = monitor.look()
  assert.equal(claims(), 'ok')
  elapse(1_001)
  assert.equal(claims(), 'the database has not answered for 1.0 s')
  other.exec('COMMIT')
  await look
  await monitor.look()
  assert.equal(claims(), 'ok')
})

test('two checks at the same moment log one outage', async (t) => {
  const { store, other } = await open(t)
  const { monitor, lines } = watch(store)
  other.exec(HIDE)
  await Promise.all([monitor.look(), monitor.look()])
  assert.equal(lines.length, 1)
})

test('the schema is read every 15 s, and with each look after a failure', async (t) => {
  const { store, other } = await open(t)
  const { monitor, elapse, schema } = watch(store)
  await monitor.look()
  other.exec('ALTER TABLE schema_migrations RENAME TO elsewhere')
  elapse(14_999)
  await monitor.look()
  assert.equal(schema(), 'ok')
  elapse(1)
  await monitor.look()
  assert.equal(schema(), 'the schema cannot be read')
  other.exec('ALTER TABLE elsewhere RENAME TO schema_migrations')
  await monitor.look()
  assert.equal(schema(), 'ok')
})

test('the end of the service is no outage', async (t) => {
  const { store } = await open(t)
  const { monitor, lines, claims } = watch(store)
  await monitor.look()
  monitor.close()
  await store.close()
  await monitor.look()
  assert.match(claims(), /the store is closed/)
  assert.deepEqual(lines, [])
})

async function open(t: TestContext): Promise<{ store: ServingStore; other: DatabaseSync }> {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path)
  const other = new DatabaseSync(path)
  t.after(async () => {
    other.close()
    await store.close()
  })
  return { store, other }
}

/** A monitor with a clock that the test moves. */
function watch(store: ServingStore) {
  const lines: string[] = []
  let now = 5_000
  const log = {
    info: (message: string) => void lines.push(`info: ${message}`),
    error: (message: string) => void lines.push(`error: ${message}`),
  }
  const monitor = createMonitor(store, log, () => now)
  const read = (name: string) => {
    const { state, found } = monitor.findings().find(({ check }) => check === name)!
    return state === 'ok' ? state : found
  }
  return {
    monitor,
    claims: () => read('claims'),
    schema: () => read('schema'),
    lines,
    elapse: (milliseconds: number) => {
      now += milliseconds
    },
  }
}
