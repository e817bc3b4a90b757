import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { createClaimQueue } from '../../../src/claims/queue.ts'
import { generateKey } from '../../../src/keys/api-key.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { openDatabase } from '../../../src/postgres/database.ts'
import { createKnownKeys } from '../../../src/postgres/claims/known-keys.ts'
import {
  createClaimConnection,
  POSTGRES_QUEUE,
} from '../../../src/postgres/claims/claim-connection.ts'
import { CLAMP } from '../../../src/postgres/claims/claim-statements.ts'
import { claimBatch } from '../../../src/postgres/claims/claims.ts'
import { NO_LISTINGS } from '../../fixtures/listings.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import type { Server } from '../../fixtures/postgres/server.ts'
import { callWith, nameOf, openBatches, openServerForBatches } from './open-batches.ts'
import { whileLocked, withPausedStatement } from '../other-session.ts'

/*
 * A key whose row another session locks or changes at the same moment is busy: neither granted nor
 * an error.
 */

let server: Server
let url: string
before(async () => {
  ;({ server, url } = await openServerForBatches())
})
after(() => server.remove())

test('one locked row of five leaves the other four claims granted at once', async (t) => {
  const { client, known, ada, bob, eve, mia, none } = await openBatches(t, url)
  const locked = eve
  const keys = [ada, bob, locked, none, mia].map(({ key }) => key)
  // A statement that waits for the lock fails instead of hanging.
  await client.query(`SET lock_timeout = '5s'`)
  await whileLocked(url, locked.keyId, async () => {
    const outcomes = await claimBatch(client, known, keys.map(callWith))
    assert.deepEqual(outcomes.map(nameOf), ['granted', 'granted', 'busy', 'granted', 'granted'])
  })
  const stamps = await asAdmin(url, (admin) =>
    admin.query('SELECT FROM api_keys WHERE id = $1 AND last_used_at IS NOT NULL', [locked.keyId]),
  )
  assert.equal(stamps.rowCount, 0, 'a busy key has no stamp')

  await client.query('UPDATE api_keys SET last_used_at = NULL')
  const queue = openQueue(t)
  // Connects first, so that connecting on a busy machine takes no time from the calls.
  await eventually(() => queue.claim(hashApiKey(generateKey()), NO_LISTINGS).then(() => true))
  const told: string[] = []
  await whileLocked(url, locked.keyId, async () => {
    await Promise.allSettled(
      keys.map((key) =>
        queue.claim(hashApiKey(key), NO_LISTINGS).then(
          ({ outcome }) => told.push(outcome),
          (fault: Error) => told.push(fault.name),
        ),
      ),
    )
  })
  assert.deepEqual(told, ['granted', 'granted', 'granted', 'granted', 'AuthenticationFault'])
})

test('a row that changes between the snapshot and the lock is decided anew', async (t) => {
  const changes = {
    granted: `UPDATE api_keys SET name = 'other' WHERE id = $1`,
    limited: 'UPDATE api_keys SET last_used_at = clock_timestamp() WHERE id = $1',
    revoked: 'UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1',
    unknown: 'DELETE FROM api_keys WHERE id = $1',
  }
  for (const [expected, change] of Object.entries(changes)) {
    const { client, known, ada, bob } = await openBatches(t, url)
    const batch = [ada.key, bob.key].map(callWith)
    const outcomes = await withPausedStatement(url, client, {
      begin: () => claimBatch(client, known, batch),
      meanwhile: () => asAdmin(url, (admin) => admin.query(change, [ada.keyId])),
    })
    assert.deepEqual(outcomes.map(nameOf), ['busy', 'granted'], expected)
    const [again] = await claimBatch(client, known, batch)
    assert.equal(nameOf(again!), expected)
  }
})

test('a claim is stamped after its list is read', async (t) => {
  const { client, known, ada } = await openBatches(t, url)
  await client.query(
    `ALTER TABLE servers RENAME TO elsewhere;
     CREATE VIEW servers AS SELECT * FROM elsewhere
     WHERE (SELECT set_config('test.read_at', clock_timestamp()::text, false)) <> ''`,
  )
  t.after(() =>
    asAdmin(url, (admin) =>
      admin.query('DROP VIEW servers; ALTER TABLE elsewhere RENAME TO servers'),
    ),
  )
  const [used] = await claimBatch(client, known, [callWith(ada.key)])
  assert.equal(nameOf(used!), 'granted')
  const stamped = await client.query(
    `SELECT last_used_at >= current_setting('test.read_at')::timestamptz AS late
     FROM api_keys WHERE id = $1`,
    [ada.keyId],
  )
  assert.deepEqual(stamped.rows, [{ late: true }])
})

test('a stamp from the future on a locked row is busy and spoils no other outcome', async (t) => {
  const { client, known, ada, bob, useAhead } = await openBatches(t, url)
  await useAhead(ada.keyId)
  const batch = [ada.key, bob.key].map(callWith)
  await whileLocked(url, ada.keyId, async () => {
    const deciding = claimBatch(client, known, batch)
    const outcomes = await Promise.race([deciding, delay(10_000, [], { ref: false })])
    assert.deepEqual(outcomes.map(nameOf), ['busy', 'granted'])
  })
  const [soon] = await claimBatch(client, known, batch)
  assert.equal(nameOf(soon!), 'limited')
})

test('only one of two processes resets a stamp from the future', async (t) => {
  const { client, known, ada, useAhead } = await openBatches(t, url)
  await useAhead(ada.keyId)
  const clamped = `clock_timestamp() - interval '10 minutes'`
  const behind: Pick<pg.Client, 'query'> = {
    query: ((...args: Parameters<typeof client.query>) => {
      if (args[0] !== (CLAMP as unknown)) return client.query(...args)
      const other = `UPDATE api_keys SET last_used_at = ${clamped} WHERE id = $1`
      return client.query(other, [ada.keyId]).then(() => client.query(...args))
    }) as typeof client.query,
  }
  const [outcome] = await claimBatch(behind as pg.Client, known, [callWith(ada.key)])
  assert.equal(nameOf(outcome!), 'busy')
  const { rows } = await client.query(
    `SELECT last_used_at < clock_timestamp() - interval '5 minutes' AS kept FROM api_keys WHERE id = $1`,
    [ada.keyId],
  )
  assert.deepEqual(rows, [{ kept: true }])
})

test('an error after the claims of a batch takes none of them back', async (t) => {
  const { client, known, ada, bob, useAhead } = await openBatches(t, url)
  await useAhead(ada.keyId)
  // As on a server that allows reading and stamping a table's rows and then no more.
  await client.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF OLD.last_used_at > clock_timestamp() THEN RAISE 'no'; END IF; RETURN NEW; END $$;
     CREATE TRIGGER refuse BEFORE UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION refuse()`,
  )
  t.after(() => asAdmin(url, (admin) => admin.query('DROP FUNCTION refuse() CASCADE')))
  const outcomes = await claimBatch(client, known, [ada.key, bob.key].map(callWith))
  assert.deepEqual(outcomes.map(nameOf), ['busy', 'granted'])
})

/** A queue with one connection that waits as long as a busy machine may need. */
function openQueue(t: TestContext) {
  const database = openDatabase(url, {
    statementMs: 20_000,
    lockMs: 20_000,
    queryMs: 20_000,
    connectMs: 20_000,
  })
  const connection = createClaimConnection(database, createKnownKeys(), async () => {})
  const queue = createClaimQueue([connection], POSTGRES_QUEUE)
  t.after(async () => {
    await queue.close()
    await database.close()
  })
  return queue
}
