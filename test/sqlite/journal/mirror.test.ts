import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { NotConfigured, NotJournaled } from '../../../src/model/faults.ts'
import { formatInstant, presentInstant } from '../../../src/model/instant.ts'
import type { Store } from '../../../src/database/store.ts'
import { sql, uuid } from '../../../src/database/sql.ts'
import { openMirror, unite } from '../../../src/sqlite/journal/mirror.ts'
import { managementConnection } from '../../../src/sqlite/management-connection.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { openSqliteStore } from '../../../src/sqlite/store.ts'
import { manualClock } from '../../fixtures/clock.ts'
import { issueKey } from '../../fixtures/service.ts'
import { exec, hexOf, twoKeys } from './beside.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { removeUser } from '../../../src/directory/records/removed-user.ts'
import { recordsOf } from '../../fixtures/records.ts'

test('a revocation is in the journal when the revoke returns, and so is a removed user', async (t) => {
  const { ada, bob, command, lines } = await twoKeys(t)
  await command((store) => recordsOf(store).revokeApiKey(ada.user.id, ada.keyId, operatorAt(7)))
  assert.deepEqual(lines(), [hexOf(ada.key)])
  await command((store) => removeUser(store.database, bob.user.id, operatorAt(presentInstant())))
  assert.deepEqual(lines(), [hexOf(ada.key), hexOf(bob.key)])
})

test('a revocation that is rolled back leaves no line', async (t) => {
  const { path, ada, command, lines } = await twoKeys(t)
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  const mirror = await openMirror(database, path, assert.ifError)
  const lent = managementConnection(database, { lockWaitMs: 1_000, mirror })
  const failed = lent.transact(async (transaction) => {
    await transaction.run(sql`UPDATE api_keys SET revoked_at = 7`)
    throw new Error('enough')
  })
  await assert.rejects(failed, /enough/)
  await lent.flush()
  assert.deepEqual(lines(), [])
  const [key] = await command((store) => recordsOf(store).listApiKeys(ada.user.id))
  assert.equal(key?.revoked_at, null)
})

test('a failed append rejects the revoke, and the next try writes the line', async (t) => {
  const { path, ada, bob, lines, withoutJournal } = await twoKeys(t)
  const store = await openSqliteStore(path, { create: false })
  t.after(() => store.close())
  const revoke = () => recordsOf(store).revokeApiKey(ada.user.id, ada.keyId, operatorAt(7))
  await withoutJournal(async () => {
    await assert.rejects(revoke(), isNotJournaled)
    const [key] = await recordsOf(store).listApiKeys(ada.user.id)
    assert.equal(key?.revoked_at, 7)
    // Until the line is written, no change begins.
    await assert.rejects(revoke(), isNotJournaled)
    await assert.rejects(issueKey(store, bob.user), isNotJournaled)
    assert.equal((await recordsOf(store).listApiKeys(bob.user.id)).length, 1)
  })
  assert.deepEqual(lines(), [])
  assert.notEqual(await revoke(), null)
  assert.deepEqual(lines(), [hexOf(ada.key)])
})

test('a change that a restore comes before is made in the united file', async (t) => {
  const { path, ada, bob, command, lines, restoreOlder } = await twoKeys(t)
  await command((store) => recordsOf(store).revokeApiKey(ada.user.id, ada.keyId, operatorAt(7)))
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  const mirror = await openMirror(database, path, () => {})
  let restores = 0
  const lent = managementConnection(database, {
    lockWaitMs: 1_000,
    mirror: {
      ...mirror,
      // Between the union and the transaction.
      async flush() {
        await mirror.flush()
        restores += 1
        if (restores === 1) await restoreOlder()
      },
    },
  })
  await lent.run(sql`UPDATE api_keys SET revoked_at = 8 WHERE id = ${uuid(bob.keyId)}`)
  assert.deepEqual(lines(), [hexOf(ada.key), hexOf(bob.key)])
  const rows = await lent.all(sql`SELECT revoked_at FROM api_keys ORDER BY revoked_at`)
  assert.deepEqual(rows, [{ revoked_at: 7 }, { revoked_at: 8 }])
})

test('a command writes the line that a killed one has left out', async (t) => {
  const { ada, revokeBySql, command, lines } = await twoKeys(t)
  revokeBySql(ada.key)
  assert.deepEqual(lines(), [])
  await command(async () => {})
  assert.deepEqual(lines(), [hexOf(ada.key)])
})

test('the journal gets each line once, and none for what is no hash', async (t) => {
  const { path, journal, ada, bob, revokeBySql } = await twoKeys(t)
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  const mirror = await openMirror(database, path, assert.ifError)
  for (const { key } of [ada, bob]) {
    revokeBySql(key)
    exec(
      path,
      'PRAGMA ignore_check_constraints = ON; INSERT INTO revoked_hashes (key_hash, revoked_at) VALUES (randomblob(8), 1)',
    )
    await mirror.flush()
  }
  await mirror.flush()
  const text = readFileSync(journal, 'latin1')
  assert.deepEqual(
    Array.from(text.matchAll(/key (.*)/g), ([, hash]) => hash),
    [hexOf(ada.key), hexOf(bob.key)],
  )
})

test('a command that only reads works while the missing line cannot be written', async (t) => {
  const { path, ada, revokeBySql, lines, withoutJournal } = await twoKeys(t)
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  revokeBySql(ada.key)
  const mirror = await openMirror(database, path, assert.ifError)
  assert.deepEqual(lines(), [hexOf(ada.key)])
  exec(path, 'UPDATE api_keys SET revoked_at = 5')
  const lent = managementConnection(database, { lockWaitMs: 1_000, mirror })
  await withoutJournal(async () => {
    assert.equal((await lent.all(sql`SELECT 1 FROM revoked_hashes`)).length, 2)
    await assert.rejects(lent.run(sql`DELETE FROM sessions`), isNotJournaled)
  })
})

test('a service mirrors within a second what another program lists', async (t) => {
  const { path, ada, revokeBySql, lines } = await twoKeys(t)
  const store = await openServingSqliteStore(path, manualClock())
  t.after(() => store.close())
  revokeBySql(ada.key)
  const until = performance.now() + 30_000
  while (lines().length === 0 && performance.now() < until) await delay(10)
  assert.deepEqual(lines(), [hexOf(ada.key)])
})

test('what is listed is mirrored when a service ends', async (t) => {
  const { path, ada, revokeBySql, lines } = await twoKeys(t)
  const store = await openServingSqliteStore(path, manualClock())
  revokeBySql(ada.key)
  await store.close()
  assert.deepEqual(lines(), [hexOf(ada.key)])
})

test('a line for a hash without a row keeps a key with this hash revoked', async (t) => {
  const { path, journal, ada, bob, command } = await twoKeys(t)
  exec(path, 'DELETE FROM api_keys')
  writeFileSync(journal, `\n${formatInstant(7)} key ${hexOf(ada.key)}\n`)
  const revivals: string[] = []
  const onFault = (fault: Error) => void revivals.push(fault.message)
  await (await openSqliteStore(path, { create: false, onFault })).close()
  assert.deepEqual(revivals, [])
  for (const { user, key, keyId } of [ada, bob])
    exec(
      path,
      `INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
       VALUES ('${keyId}', '${user.id}', 'bot', '', x'${hexOf(key)}', 1)`,
    )
  await command(async (store) => {
    assert.equal(await revokedAt(store, ada.user.id), 7)
    assert.equal(await revokedAt(store, bob.user.id), null)
  })
})

test('a store reports how many keys it has revoked again, and opens no unreadable journal', async (t) => {
  const { path, journal, ada, bob, command, restoreOlder, withoutJournal } = await twoKeys(t)
  const faults: string[] = []
  const open = () =>
    openSqliteStore(path, { create: false, onFault: ({ message }) => faults.push(message) })
  for (const { user, keyId } of [ada, bob])
    await command((store) => recordsOf(store).revokeApiKey(user.id, keyId, operatorAt(7)))
  await restoreOlder()
  await (await open()).close()
  await (await open()).close()
  assert.deepEqual(faults, [
    `2 active keys were revoked again, because ${journal} names them: the database file is older than the journal`,
  ])
  await withoutJournal(() => assert.rejects(open(), NotConfigured))
})

test('a journal of 100,000 lines is united with an empty list, and the list with an empty journal', async (t) => {
  const { path, journal, ada, command } = await twoKeys(t)
  const hashes = Array.from({ length: 100_000 }, () => randomBytes(32).toString('hex'))
  hashes.push(hexOf(ada.key))
  writeFileSync(journal, hashes.map(line).join(''))
  const began = process.cpuUsage()
  await command(async (store) => {
    assert.equal((await recordsOf(store).listApiKeys(ada.user.id))[0]?.revoked_at, 7)
  })
  const { user, system } = process.cpuUsage(began)
  assert.ok(user + system < 20_000_000, `${(user + system) / 1_000_000} s of CPU time`)
  // The journal lacks nothing, so it does not grow.
  const text = readFileSync(journal, 'latin1')
  assert.equal(text.length, hashes.length * line(hashes[0]!).length)
  writeFileSync(journal, '')
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  await unite(database, path, assert.ifError)
  assert.ok(readFileSync(journal, 'latin1') === text)
})

test('a change that lists nothing spends microseconds on the journal', async (t) => {
  const { path } = await twoKeys(t)
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  const mirror = await openMirror(database, path, assert.ifError)
  const times: number[] = []
  for (let round = 0; round < 1_000; round += 1) {
    const began = process.hrtime.bigint()
    await mirror.flush()
    database.exec('BEGIN')
    mirror.isUnited()
    mirror.note(mirror.readListed())
    await mirror.write()
    database.exec('COMMIT')
    times.push(Number(process.hrtime.bigint() - began) / 1_000)
  }
  const median = times.toSorted((one, other) => one - other)[500]!
  t.diagnostic(`${median.toFixed(1)} µs`)
  assert.ok(median < 2_000, `${median} µs`)
})

function isNotJournaled(error: unknown): boolean {
  return error instanceof NotJournaled && error.message.startsWith('cannot write the journal')
}

async function revokedAt(store: Store, userId: string) {
  return (await recordsOf(store).listApiKeys(userId))[0]?.revoked_at
}

function line(hash: string): string {
  return `\n${formatInstant(7)} key ${hash}\n`
}
