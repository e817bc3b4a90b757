import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { generateKey } from '../../../src/keys/api-key.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { AuthenticationFault, ListFault } from '../../../src/model/faults.ts'
import { holding, NO_LISTINGS } from '../../fixtures/listings.ts'
import { callWith, execElsewhere, nameOf, openClaims } from './open-claims.ts'

/*
 * The outcomes of the claims in one batch, whether its transaction commits or not.
 */

test('after a failed commit only the outcomes that did not depend on it stand', async (t) => {
  const { claims, database, ada, bob, revoked } = await openClaims(t)
  // A foreign key that fails only at the commit.
  database.exec(`
    CREATE TABLE none (id INTEGER PRIMARY KEY);
    CREATE TABLE refers (id INTEGER REFERENCES none (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TEMP TRIGGER fail_commit AFTER INSERT ON main.recent_claims BEGIN INSERT INTO refers VALUES (1); END;
  `)
  const unknown = generateKey()
  const batch = [unknown, ada, revoked, bob].map(callWith)
  assert.deepEqual(claims.claimBatch(batch)?.map(nameOf), [
    'unknown',
    'AuthenticationFault',
    'revoked',
    'AuthenticationFault',
  ])
  assert.equal(database.isTransaction, false)
  database.exec('DROP TRIGGER fail_commit')
  assert.deepEqual(claims.claimBatch(batch)?.map(nameOf), [
    'unknown',
    'granted',
    'revoked',
    'granted',
  ])
})

test('an engine that is given a key twice, or a clock that went back, grants nothing', async (t) => {
  const { claims, clock, database, ada, bob } = await openClaims(t)
  const twice = claims.claimBatch([callWith(ada), callWith(ada)])!
  assert.deepEqual(twice.map(nameOf), ['AuthenticationFault', 'AuthenticationFault'])
  assert.match(inspect(twice[0]), /not true: a batch grants a key once/)
  assert.deepEqual(claims.claimBatch([callWith(ada)])?.map(nameOf), ['granted'])
  clock.elapse(-1)
  const [back] = claims.claimBatch([callWith(bob)])!
  assert.match(inspect(back), /not true: a stamp is not before the last one/)
  assert.equal(database.prepare('SELECT count(*) AS n FROM recent_claims').get()?.n, 1)
})

test('a batch that breaks off in the middle fails from there on', async (t) => {
  const { claims, ada, bob } = await openClaims(t)
  assert.deepEqual(claims.claimBatch([callWith(bob)])?.map(nameOf), ['granted'])
  // A hash that cannot be looked up stands for a file that suddenly cannot be read.
  const noHash: unknown = { ...hashApiKey(ada), 0: 256 }
  const broken = { keyHash: noHash as Uint8Array, listings: NO_LISTINGS }
  const outcomes = claims.claimBatch([callWith(bob), callWith(ada), broken, callWith(ada)])
  const fault = 'AuthenticationFault'
  assert.deepEqual(outcomes?.map(nameOf), ['limited', fault, fault, fault])
  assert.deepEqual(claims.claimBatch([callWith(ada)])?.map(nameOf), ['granted'])
})

test('an unreadable list fails the claim of its owner and no other claim', async (t) => {
  const { claims, path, database, ada, bob } = await openClaims(t)
  database.function('broken', () => assert.fail('unreadable'))
  replaceServers(database, `WHERE name <> 'of ada' OR broken()`)
  const batch = [ada, bob].map(callWith)
  assert.deepEqual(claims.claimBatch(batch)?.map(nameOf), ['ListFault', 'granted'])
  execElsewhere(path, 'DROP VIEW servers; ALTER TABLE elsewhere RENAME TO servers')
  assert.deepEqual(claims.claimBatch(batch)?.map(nameOf), ['granted', 'limited'])
})

test('if reading a list ends the transaction, no claim of the batch is recorded', async (t) => {
  const { claims, path, database, ada, bob } = await openClaims(t)
  // SQLite does this by itself when the disk is full or unreadable.
  database.function('broken', () => {
    database.exec('ROLLBACK')
    return 1
  })
  replaceServers(database, `WHERE name <> 'of ada' OR broken()`)
  const batch = [bob, ada].map(callWith)
  const outcomes = claims.claimBatch(batch)
  assert.equal(nameOf(outcomes![0]!), 'AuthenticationFault')
  assert.match(inspect(outcomes![0]), /the transaction was ended by an error/)
  assert.ok(outcomes![1] instanceof Error)
  assert.equal(database.prepare('SELECT count(*) AS n FROM recent_claims').get()?.n, 0)
  execElsewhere(path, 'DROP VIEW servers; ALTER TABLE elsewhere RENAME TO servers')
  assert.deepEqual(claims.claimBatch(batch)?.map(nameOf), ['granted', 'granted'])
})

test("a list is read again only if the owner's revision has changed", async (t) => {
  const { claims, path, clock, ada } = await openClaims(t)
  const rowsFor = (remembered: string | null) => {
    clock.elapse(1_000)
    const [used] = claims.claimBatch([{ keyHash: hashApiKey(ada), listings: holding(remembered) }])!
    assert.ok(used && 'revision' in used)
    return used
  }
  const first = rowsFor(null)
  assert.deepEqual(
    first.rows?.map(({ name }) => name),
    ['of ada'],
  )
  assert.equal(rowsFor(first.revision).rows, null)
  assert.equal(rowsFor(first.revision).revision, first.revision)
  execElsewhere(path, `UPDATE servers SET name = 'changed' WHERE name = 'of ada'`)
  const changed = rowsFor(first.revision)
  assert.equal(changed.rows?.[0]?.name, 'changed')
  assert.notEqual(changed.revision, first.revision)
})

test('a locked file decides nothing; a refused transaction fails all claims', async (t) => {
  const { claims, path, database, ada } = await openClaims(t)
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  assert.equal(claims.claimBatch([callWith(ada)]), null)
  other.exec('COMMIT')
  other.close()
  database.exec('PRAGMA query_only = ON')
  assert.deepEqual(claims.claimBatch([ada, ada].map(callWith))?.map(nameOf), [
    'AuthenticationFault',
    'AuthenticationFault',
  ])
  database.exec('PRAGMA query_only = OFF')
  assert.deepEqual(claims.claimBatch([callWith(ada)])?.map(nameOf), ['granted'])
})

test('a batch that could not be rolled back is not part of the next one', async (t) => {
  const { claims, database, ada } = await openClaims(t)
  database.exec('BEGIN; CREATE TABLE left_over (id)')
  assert.deepEqual(claims.claimBatch([callWith(ada)])?.map(nameOf), ['granted'])
  assert.throws(() => database.prepare('SELECT * FROM left_over'), /no such table/)
})

test('a fault says what failed and carries its cause', async (t) => {
  const { claims, path, ada } = await openClaims(t)
  execElsewhere(path, 'ALTER TABLE servers RENAME TO elsewhere')
  const [list] = claims.claimBatch([callWith(ada)])!
  assert.ok(list instanceof ListFault)
  assert.equal(list.message, 'the servers could not be read')
  assert.match(inspect(list.cause), /no such table/)
  execElsewhere(path, 'ALTER TABLE api_keys RENAME TO missing')
  const [keys] = claims.claimBatch([callWith(ada)])!
  assert.ok(keys instanceof AuthenticationFault)
  assert.match(keys.message, /^keys could not be looked up or claims could not be recorded$/)
  assert.match(inspect(keys.cause), /no such table/)
})

/** Replaces the servers by a view; its condition can do something when Ada's rows are read. */
function replaceServers(database: DatabaseSync, condition: string): void {
  database.exec(`
    PRAGMA legacy_alter_table = ON;
    ALTER TABLE servers RENAME TO elsewhere;
    CREATE VIEW servers AS SELECT * FROM elsewhere ${condition};
  `)
}
