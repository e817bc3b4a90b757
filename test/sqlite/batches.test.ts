import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { generateKey, hashApiKey } from '../../src/listing/api-key.ts'
import { AuthenticationFault, ListFault } from '../../src/listing/faults.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { type Call, createUses, type Outcome, type Uses } from '../../src/sqlite/uses.ts'
import { type ManualClock, manualClock } from '../fixtures/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { addOwner } from '../fixtures/service.ts'

/*
 * The calls of one batch: what each of them hears of the same transaction, be it committed or not.
 */

test('of a batch that could not be committed, what was only read is told, and whatever hung on a use failed', async (t) => {
  const { uses, database, ada, bob, revoked } = await openUses(t)
  // What a commit finds out at last: a row that refers to none.
  database.exec(`
    CREATE TABLE none (id INTEGER PRIMARY KEY);
    CREATE TABLE refers (id INTEGER REFERENCES none (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TEMP TRIGGER spoil AFTER INSERT ON main.uses BEGIN INSERT INTO refers VALUES (1); END;
  `)
  const unknown = generateKey()
  const batch = [unknown, ada, revoked, ada, bob].map(callWith)
  assert.deepEqual(uses.useTogether(batch)?.map(nameOf), [
    'unknown',
    'AuthenticationFault',
    'revoked',
    'AuthenticationFault',
    'AuthenticationFault',
  ])
  assert.equal(database.isTransaction, false)
  database.exec('DROP TRIGGER spoil')
  assert.deepEqual(uses.useTogether(batch)?.map(nameOf), [
    'unknown',
    'used',
    'revoked',
    'too soon',
    'used',
  ])
})

test('a batch that breaks off in its middle failed from there on', async (t) => {
  const { uses, ada, bob } = await openUses(t)
  assert.deepEqual(uses.useTogether([callWith(bob)])?.map(nameOf), ['used'])
  // What cannot be looked up: it takes the place of a file that cannot be read all of a sudden.
  const broken = { keyHash: Symbol('no hash') as unknown as Uint8Array, recall: () => null }
  const outcomes = uses.useTogether([callWith(bob), callWith(ada), broken, callWith(ada)])
  const fault = 'AuthenticationFault'
  assert.deepEqual(outcomes?.map(nameOf), ['too soon', fault, fault, fault])
  assert.deepEqual(uses.useTogether([callWith(ada)])?.map(nameOf), ['used'])
})

test('where the list of a key cannot be read all its calls in the batch hear that, and the others are used', async (t) => {
  const { uses, database, ada, bob } = await openUses(t)
  database.function('broken', () => assert.fail('unreadable'))
  replaceServers(database, `WHERE name <> 'of Ada' OR broken()`)
  const batch = [ada, bob, ada].map(callWith)
  assert.deepEqual(uses.useTogether(batch)?.map(nameOf), ['ListFault', 'used', 'ListFault'])
  database.exec('DROP VIEW servers; ALTER TABLE elsewhere RENAME TO servers')
  assert.deepEqual(uses.useTogether(batch)?.map(nameOf), ['used', 'too soon', 'too soon'])
})

test('where reading a list ends the transaction nothing is recorded, of no key of the batch', async (t) => {
  const { uses, database, ada, bob } = await openUses(t)
  // As SQLite does by itself when the disk is full or cannot be read.
  database.function('broken', () => {
    database.exec('ROLLBACK')
    return 1
  })
  replaceServers(database, `WHERE name <> 'of Ada' OR broken()`)
  const batch = [bob, ada].map(callWith)
  const outcomes = uses.useTogether(batch)
  assert.equal(nameOf(outcomes![0]!), 'AuthenticationFault')
  assert.match(inspect(outcomes![0]), /the transaction was ended by an error/)
  assert.ok(outcomes![1] instanceof Error)
  assert.equal(database.prepare('SELECT count(*) AS n FROM uses').get()?.n, 0)
  database.exec('DROP VIEW servers; ALTER TABLE elsewhere RENAME TO servers')
  assert.deepEqual(uses.useTogether(batch)?.map(nameOf), ['used', 'used'])
})

test('a list is read again where something changed, and only there', async (t) => {
  const { uses, path, clock, ada } = await openUses(t)
  const rowsFor = (remembered: string | null) => {
    clock.elapse(1_000)
    const [used] = uses.useTogether([{ keyHash: hashApiKey(ada), recall: () => remembered }])!
    assert.ok(used && 'revision' in used)
    return used
  }
  const first = rowsFor(null)
  assert.deepEqual(
    first.rows?.map(({ name }) => name),
    ['of Ada'],
  )
  assert.equal(rowsFor(first.revision).rows, null)
  assert.equal(rowsFor(first.revision).revision, first.revision)
  const other = new DatabaseSync(path)
  other.exec(`UPDATE servers SET name = 'changed' WHERE name = 'of Ada'`)
  other.close()
  const changed = rowsFor(first.revision)
  assert.equal(changed.rows?.[0]?.name, 'changed')
  assert.notEqual(changed.revision, first.revision)
})

test('while another process holds the lock nothing is decided; where a transaction cannot begin, all has failed', async (t) => {
  const { uses, path, database, ada } = await openUses(t)
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  assert.equal(uses.useTogether([callWith(ada)]), null)
  other.exec('COMMIT')
  other.close()
  database.exec('PRAGMA query_only = ON')
  assert.deepEqual(uses.useTogether([ada, ada].map(callWith))?.map(nameOf), [
    'AuthenticationFault',
    'AuthenticationFault',
  ])
  database.exec('PRAGMA query_only = OFF')
  assert.deepEqual(uses.useTogether([callWith(ada)])?.map(nameOf), ['used'])
})

test('what a batch left open that could not be ended is no part of the next one', async (t) => {
  const { uses, database, ada } = await openUses(t)
  database.exec('BEGIN; DELETE FROM api_keys')
  assert.deepEqual(uses.useTogether([callWith(ada)])?.map(nameOf), ['used'])
})

test('the log is copied into the file after each megabyte, not after four', async (t) => {
  const { database } = await openUses(t)
  assert.equal(database.prepare('PRAGMA wal_autocheckpoint').get()?.wal_autocheckpoint, 256)
})

test('a fault says what failed, and carries the reason', async (t) => {
  const { uses, database, ada } = await openUses(t)
  database.exec('ALTER TABLE servers RENAME TO elsewhere')
  const [list] = uses.useTogether([callWith(ada)])!
  assert.ok(list instanceof ListFault)
  assert.equal(list.message, 'the servers could not be read')
  assert.match(inspect(list.cause), /no such table/)
  database.exec('ALTER TABLE api_keys RENAME TO missing')
  const [keys] = uses.useTogether([callWith(ada)])!
  assert.ok(keys instanceof AuthenticationFault)
  assert.match(keys.message, /^keys could not be looked up or their use not recorded$/)
  assert.match(inspect(keys.cause), /no such table/)
})

async function openUses(t: TestContext): Promise<{
  path: string
  database: DatabaseSync
  uses: Uses
  clock: ManualClock
  ada: string
  bob: string
  revoked: string
}> {
  const path = join(temporaryFolder(t), 'listing.db')
  const store = await openSqliteStore(path, { create: true })
  const owner = (name: string) =>
    addOwner(store, `${name}@example.com`, [{ name: `of ${name}`, address: 'a.example' }])
  const [ada, bob, eve] = [await owner('Ada'), await owner('Bob'), await owner('Eve')]
  await store.revokeApiKey(eve.user.id, eve.keyId, 1)
  await store.close()
  const database = new DatabaseSync(path, { timeout: 0 })
  t.after(() => database.close())
  database.exec(`INSERT INTO boots (boot_id) VALUES ('test')`)
  const clock = manualClock()
  return {
    path,
    database,
    uses: createUses(database, 1, clock),
    clock,
    ada: ada.key,
    bob: bob.key,
    revoked: eve.key,
  }
}

/** Puts a view in the place of the servers, in which reading those of Ada may do something. */
function replaceServers(database: DatabaseSync, condition: string): void {
  database.exec(`
    PRAGMA legacy_alter_table = ON;
    ALTER TABLE servers RENAME TO elsewhere;
    CREATE VIEW servers AS SELECT * FROM elsewhere ${condition};
  `)
}

function callWith(key: string): Call {
  return { keyHash: hashApiKey(key), recall: () => null }
}

function nameOf(outcome: Outcome): string {
  return outcome instanceof Error ? outcome.name : outcome.outcome
}
