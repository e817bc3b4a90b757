import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import type { Store } from '../../../src/database/store.ts'
import { openPostgresStore } from '../../../src/postgres/store.ts'
import { createKnownKeys } from '../../../src/postgres/claims/known-keys.ts'
import type { Call, Outcome } from '../../../src/claims/call.ts'
import { NO_LISTINGS } from '../../fixtures/listings.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { createDatabase } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { addOwner } from '../../fixtures/service.ts'
import { operatorAt } from '../../../src/model/audit.ts'
import { recordsOf } from '../../fixtures/records.ts'

/** A running server with a migrated database, for the tests of one file. */
export async function openServerForBatches(): Promise<{ server: Server; url: string }> {
  const server = await openServer()
  const url = await createDatabase(server)
  await (await openStorePatiently(url)).close()
  return { server, url }
}

/**
 * Owners with servers, one with a revoked key, one without a server, and a connection to decide
 * batches.
 */
export async function openBatches(t: TestContext, url: string) {
  const store = await openStorePatiently(url)
  const owner = (name: string, servers: Parameters<typeof addOwner>[2]) =>
    addOwner(store, `${name}-${randomUUID()}@example.com`, servers)
  const ada = await owner('ada', [
    { name: 'of Ada', address: 'a.example', updated_at: 1 },
    { name: 'newer of Ada', address: 'b.example', updated_at: 2 },
  ])
  const more = {
    slug: 'bob',
    edition: 'bedrock',
    status: 'draft',
    version: '1.21',
    listing_kind: 'realm',
  }
  const bob = await owner('bob', [{ name: 'of Bob', address: 'bob.example', ...more }])
  const [eve, mia, revoked, none] = [
    await owner('eve', []),
    await owner('mia', []),
    await owner('ian', []),
    await owner('joe', []),
  ]
  await recordsOf(store).revokeApiKey(revoked.user.id, revoked.keyId, operatorAt(1))
  await store.close()
  const client = new pg.Client(url)
  await client.connect()
  t.after(() => client.end())
  // An hour ago, as on a server that has been up for a while.
  await client.query(
    `INSERT INTO service_epoch VALUES (true, clock_timestamp() - interval '1 hour')
     ON CONFLICT (only_row) DO UPDATE SET started_at = excluded.started_at`,
  )
  const known = createKnownKeys()
  const age = () =>
    client.query(`UPDATE api_keys SET last_used_at = last_used_at - interval '1 second'`)
  /** Stamps a key's claim one hour ahead, so that the test can take its time. */
  const useAhead = (keyId: string) =>
    client.query(
      `UPDATE api_keys SET last_used_at = clock_timestamp() + interval '1 hour' WHERE id = $1`,
      [keyId],
    )
  return { client, known, ada, bob, eve, mia, revoked, none, age, useAhead }
}

/**
 * A command waits half a second for a connection, which is too short if the machine stands still.
 */
export async function openStorePatiently(url: string): Promise<Store> {
  let store: Store | undefined
  await eventually(async () => {
    store = await openPostgresStore(url, { create: true }).catch(() => undefined)
    return store !== undefined
  })
  return store!
}

export function callWith(key: string): Call {
  return { keyHash: hashApiKey(key), listings: NO_LISTINGS }
}

export function nameOf(outcome: Outcome): string {
  return outcome instanceof Error ? outcome.name : outcome.outcome
}

export function grantedOf(outcome: Outcome) {
  assert.ok('outcome' in outcome && outcome.outcome === 'granted', nameOf(outcome))
  return outcome
}
