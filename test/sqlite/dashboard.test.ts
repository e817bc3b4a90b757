import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { hashApiKey } from '../../src/model/key-hash.ts'
import { createUser } from '../../src/accounts/user.ts'
import { apiKeys } from '../../src/keys/records/api-keys.ts'
import { openDatabase } from '../../src/sqlite/database.ts'
import { managementConnection } from '../../src/sqlite/management-connection.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { migrateSqlite } from '../../src/sqlite/store.ts'
import { createUsageCounter } from '../../src/keys/usage/usage-counter.ts'
import { holding } from '../fixtures/listings.ts'
import { NOW, manualClock } from '../fixtures/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { addOwner } from '../fixtures/service.ts'
import { operatorAt } from '../../src/model/audit.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { recordsOf } from '../fixtures/records.ts'
import { usageCounts } from '../../src/keys/records/usage-counts.ts'

/*
 * The dashboard while other processes and connections work on the same file.
 */

test('the dashboard waits for a locked file without blocking the event loop', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path, manualClock())
  const other = new DatabaseSync(path)
  t.after(async () => {
    other.close()
    await store.close()
  })
  other.exec('BEGIN IMMEDIATE')
  let isDone = false
  const inserted = recordsOf(store)
    .insertUser(createUser('ada@example.com'), operatorAt(presentInstant()))
    .then((result) => {
      isDone = true
      return result
    })
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
  assert.equal(isDone, false)
  assert.deepEqual(await recordsOf(store).listUserRecords(), [])
  other.exec('COMMIT')
  assert.equal(await inserted, true)
})

test('writing counts keeps cached listings valid; writing a server does not', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const clock = manualClock()
  const store = await openServingSqliteStore(path, clock)
  t.after(() => store.close())
  const { user, key, keyId } = await addOwner(store, 'ada@example.com', [
    { name: 'one', address: 'one.example' },
  ])
  const claim = async (heldRevision: string | null) => {
    clock.elapse(1_000)
    const used = await store.claim(hashApiKey(key), holding(heldRevision))
    assert.ok(used.outcome === 'granted')
    return used
  }
  const { revision } = await claim(null)
  const count = { api_key_id: keyId, slot: 1, answered: 1, limited: 0, revoked: 0 }
  await usageCounts(store.counting).addUsageCounts([count])
  // A clock was far ahead for a while. The service must not visit every time slot in between.
  await usageCounts(store.counting).addUsageCounts([{ ...count, slot: 100_000_000 }])
  const listed = await usageCounts(store.database).listUsageCounts([keyId], 0)
  assert.deepEqual(
    listed.map(({ slot }) => slot),
    [1, 100_000_000],
  )
  await usageCounts(store.counting).dropUsageCounts(2)
  assert.equal((await claim(revision)).rows, null)
  await recordsOf(store).saveServers(
    user.id,
    null,
    [{ name: 'two', address: 'two.example' }],
    operatorAt(1),
  )
  assert.equal((await claim(revision)).rows?.length, 2)
})

test('writing the counts of many keys touches few pages of the file', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const database = openDatabase(path, { synchronous: 'NORMAL', lockWaitMs: 0 })
  const lent = managementConnection(database, { lockWaitMs: 0 })
  // Read the write-ahead log: it holds each touched page once per commit.
  database.exec('PRAGMA wal_autocheckpoint = 0')
  const counter = createUsageCounter(usageCounts(lent), assert.ifError, () => NOW)
  t.after(async () => {
    await counter.close()
    database.close()
  })
  const keys = Array.from({ length: 10_000 }, () => randomUUID())
  for (let minute = 0; minute < 2; minute += 1) {
    for (const apiKeyId of keys)
      counter.count({ outcome: 'granted', apiKeyId, userId: '', revision: '', rows: [] })
    const before = statSync(`${path}-wal`).size
    await counter.write()
    const pages = (statSync(`${path}-wal`).size - before) / 4096
    assert.ok(pages < 1_000, `10,000 keys took ${pages.toFixed()} pages`)
  }
  assert.deepEqual(
    { ...database.prepare('SELECT sum(answered) AS requests FROM usage_counts').get() },
    { requests: 20_000 },
  )
})

test('the dashboard shows the last use of a key that was not used lately', async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path, manualClock())
  t.after(() => store.close())
  const { user } = await addOwner(store, 'ada@example.com')
  await addOwner(store, 'bob@example.com')
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  other.exec(`
    INSERT INTO older_claims SELECT serial, 5 FROM api_keys;
    INSERT INTO last_claims SELECT max(serial), 7, 7, 1 FROM api_keys`)
  assert.equal((await recordsOf(store).listApiKeys(user.id))[0]?.last_used_at, 5)
  const recent = await recordsOf(store).listRecentApiKeys(9)
  assert.deepEqual(
    recent.map(({ email, last_used_at }) => [email, last_used_at]),
    [
      ['bob@example.com', 7],
      ['ada@example.com', 5],
    ],
  )
})

test("reading one owner's keys does not sort the claims of all keys", async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openServingSqliteStore(path, manualClock())
  t.after(() => store.close())
  const { user, keyId } = await addOwner(store, 'ada@example.com')
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  const serial = other.prepare('SELECT serial FROM api_keys').get()?.serial as number
  other.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO recent_claims SELECT i, 10 + i * 7919 % 60000, i, i, 1 FROM n;
    INSERT INTO recent_claims VALUES (70000, ${serial}, 7, 7, 1), (70001, ${serial}, 9, 9, 1);
  `)
  assert.equal((await recordsOf(store).listApiKeys(user.id))[0]?.last_used_at, 9)
  const view = 'SELECT last_used_at FROM api_key_uses WHERE api_key_id = ?'
  assert.equal(other.prepare(view).get(keyId)?.last_used_at, 9)

  // SQLite calls max for each row that it sorts, so that max counts them here.
  let sorted = 0
  const step = (result: number, _number: unknown) => {
    sorted += 1
    return result
  }
  other.aggregate('max', { start: 0, step })
  other.prepare(view).get(keyId)
  assert.equal(sorted, 60_002)
  sorted = 0
  await apiKeys(managementConnection(other, { lockWaitMs: 0 })).listApiKeys(user.id)
  assert.equal(sorted, 2)
})

test("an index of the events of accounts finds an owner's entries in the audit log", async (t) => {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  const plan = database.prepare(`
    EXPLAIN QUERY PLAN SELECT action FROM audit_log
    WHERE user_id = ? AND action <> 'sign-in refused' AND substr(action, 1, 6) <> 'server'
    ORDER BY occurred_at DESC LIMIT 20
  `)
  assert.match(String(plan.get('ada')?.detail), /USING INDEX audit_log_events_of_user/)
})
