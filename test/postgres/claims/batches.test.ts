import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import type { Outcome } from '../../../src/claims/call.ts'
import { generateKey } from '../../../src/keys/api-key.ts'
import { ListFault } from '../../../src/model/faults.ts'
import { claimBatch, classifyAfterFailure } from '../../../src/postgres/claims/claims.ts'
import { eventually } from '../../fixtures/eventually.ts'
import type { Server } from '../../fixtures/postgres/server.ts'
import { callWith, nameOf, openBatches, openServerForBatches, grantedOf } from './open-batches.ts'

/* The outcomes of the claims that one statement decides. */

let server: Server
let url: string
before(async () => {
  ;({ server, url } = await openServerForBatches())
})
after(() => server.remove())

test('each claim of a batch has its own outcome, in their order', async (t) => {
  const { client, known, ada, bob, revoked } = await openBatches(t, url)
  const batch = [generateKey(), bob.key, ada.key, revoked.key, generateKey()]
  const outcomes = await claimBatch(client, known, batch.map(callWith))
  assert.deepEqual(outcomes.map(nameOf), ['unknown', 'granted', 'granted', 'revoked', 'unknown'])
  assert.deepEqual(outcomes[3], { outcome: 'revoked', apiKeyId: revoked.keyId })
  const limited = { outcome: 'limited', apiKeyId: ada.keyId }
  await eventually(async () => {
    const stamp = 'UPDATE api_keys SET last_used_at = clock_timestamp() WHERE id = $1'
    await client.query(stamp, [ada.keyId])
    const [again] = await claimBatch(client, known, [callWith(ada.key)])
    return isDeepStrictEqual(again, limited)
  })
})

test("a granted claim returns its owner's servers in order, or an empty list", async (t) => {
  const { client, known, ada, bob, none } = await openBatches(t, url)
  const outcomes = await claimBatch(client, known, [none.key, bob.key, ada.key].map(callWith))
  const lists = outcomes.map((outcome) => grantedOf(outcome).rows)
  assert.deepEqual(
    lists.map((rows) => rows?.map(({ name }) => name)),
    [[], ['of Bob'], ['newer of Ada', 'of Ada']],
  )
  assert.deepEqual(lists[1], [
    {
      id: lists[1]![0]!.id,
      name: 'of Bob',
      slug: 'bob',
      host_label: 'bob.example',
      edition: 'bedrock',
      status: 'draft',
      version: '1.21',
      listing_kind: 'realm',
    },
  ])
  assert.deepEqual(
    outcomes.map((outcome) => grantedOf(outcome).userId),
    [none.user.id, bob.user.id, ada.user.id],
  )
  assert.equal(grantedOf(outcomes[2]!).apiKeyId, ada.keyId)
})

test('after a crash known keys fail for one second; unknown and revoked keys do not', async (t) => {
  const { client, known, ada, revoked } = await openBatches(t, url)
  await client.query('DELETE FROM service_epoch')
  const batch = [ada.key, revoked.key, generateKey()].map(callWith)
  const expectHeldOff = async () => {
    const outcomes = await claimBatch(client, known, batch)
    assert.deepEqual(outcomes.map(nameOf), ['AuthenticationFault', 'revoked', 'unknown'])
    assert.match((outcomes[0] as Error).message, /held off for one second/)
  }
  const isOfThePast = async () => {
    const { rows } = await client.query(
      'SELECT started_at <= clock_timestamp() AS past FROM service_epoch',
    )
    return isDeepStrictEqual(rows, [{ past: true }])
  }
  await expectHeldOff()
  assert.ok(await isOfThePast(), 'a new epoch has begun')
  // As if the clock had been set back since.
  await client.query(`UPDATE service_epoch SET started_at = started_at + interval '1 hour'`)
  await expectHeldOff()
  assert.ok(await isOfThePast(), 'an epoch in the future is not waited for')
  await client.query(`UPDATE service_epoch SET started_at = started_at - interval '1 second'`)
  const [used] = await claimBatch(client, known, batch)
  assert.equal(nameOf(used!), 'granted')
})

test('a stamp from the future counts as a claim of this moment', async (t) => {
  const { client, known, ada, bob, age, useAhead } = await openBatches(t, url)
  await useAhead(ada.keyId)
  const batch = [ada.key, bob.key].map(callWith)
  const outcomes = await claimBatch(client, known, batch)
  assert.deepEqual(outcomes[0], { outcome: 'limited', apiKeyId: ada.keyId })
  assert.equal(nameOf(outcomes[1]!), 'granted')
  const { rows } = await client.query(
    `SELECT last_used_at <= clock_timestamp() AS past FROM api_keys WHERE id = $1`,
    [ada.keyId],
  )
  assert.equal(rows[0].past, true)
  await age()
  assert.deepEqual((await claimBatch(client, known, batch)).map(nameOf), ['granted', 'granted'])
})

test('after a failed statement the claims are classified without it', async (t) => {
  const { client, known, ada, bob, eve, revoked, useAhead } = await openBatches(t, url)
  await useAhead(eve.keyId)
  const keys = [generateKey(), ada.key, revoked.key, bob.key, ada.key, eve.key]
  const batch = keys.map(callWith)
  await client.query('BEGIN; ALTER TABLE servers RENAME TO elsewhere; SAVEPOINT a')
  const cause = await claimBatch(client, known, batch).catch((error: unknown) => error)
  assert.ok(cause instanceof pg.DatabaseError)
  await client.query('ROLLBACK TO a')
  let outcomes: Outcome[] = []
  // Bob's second may be over on a machine that stands still.
  await eventually(async () => {
    const stamp = 'UPDATE api_keys SET last_used_at = clock_timestamp() WHERE id = $1'
    await client.query(stamp, [bob.keyId])
    outcomes = await classifyAfterFailure(client, batch, cause)
    return nameOf(outcomes[3]!) === 'limited'
  })
  const [unknown, first, gone, soon, second, ahead] = outcomes
  assert.deepEqual(unknown, { outcome: 'unknown' })
  assert.deepEqual(gone, { outcome: 'revoked', apiKeyId: revoked.keyId })
  assert.deepEqual(soon, { outcome: 'limited', apiKeyId: bob.keyId })
  // A stamp from the future tells nothing about the last second.
  for (const fault of [first, second, ahead]) {
    assert.ok(fault instanceof ListFault)
    assert.equal(fault.message, 'the servers could not be read')
    assert.equal(fault.cause, cause)
  }
  await client.query('ROLLBACK')
})

test('authentication fails if the keys cannot be read or the server is unreachable', async (t) => {
  const { client, ada } = await openBatches(t, url)
  const batch = [ada.key, generateKey()].map(callWith)
  const fault = /^keys could not be looked up or claims could not be recorded$/
  await client.query('BEGIN; ALTER TABLE api_keys RENAME TO elsewhere')
  const failed = new pg.DatabaseError('x', 1, 'error')
  const unread = await classifyAfterFailure(client, batch, failed)
  await client.query('ROLLBACK')
  // The server would answer now, but the connection failed, not the server.
  const lost = new Error('Connection terminated')
  const unheard = await classifyAfterFailure(client, batch, lost)
  for (const [outcomes, cause] of [
    [unread, failed],
    [unheard, lost],
  ] as const) {
    assert.deepEqual(outcomes.map(nameOf), ['AuthenticationFault', 'AuthenticationFault'])
    assert.match((outcomes[0] as Error).message, fault)
    assert.equal((outcomes[0] as Error).cause, cause)
  }
})
