import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { generateKey, hashApiKey } from '../../src/listing/api-key.ts'
import { ListFault } from '../../src/listing/faults.ts'
import { judgeTogether, type Outcome, useTogether } from '../../src/postgres/uses.ts'
import { eventually } from '../fixtures/eventually.ts'
import { createDatabase } from '../fixtures/postgres-database.ts'
import { openServer, type Server } from '../fixtures/postgres-server.ts'
import { callWith, nameOf, openBatches, openStorePatiently, usedOf } from './open-batches.ts'

/*
 * The calls of one batch: what each of them hears of the one statement.
 */

let server: Server
let url: string
before(async () => {
  server = await openServer()
  url = await createDatabase(server)
  await (await openStorePatiently(url)).close()
})
after(() => server.remove())

test('each call of a batch has its own outcome, and of those with one key only the first is a use', async (t) => {
  const { client, owners, ada, bob, revoked } = await openBatches(t, url)
  const keys = [bob.key, ada.key, revoked.key, ada.key, generateKey(), ada.key, revoked.key]
  const batch = [generateKey(), ...keys]
  const outcomes = await useTogether(client, owners, batch.map(callWith))
  assert.deepEqual(outcomes.map(nameOf), [
    'unknown',
    'used',
    'used',
    'revoked',
    'too soon',
    'unknown',
    'too soon',
    'revoked',
  ])
  assert.deepEqual(outcomes[3], { outcome: 'revoked', apiKeyId: revoked.keyId })
  const tooSoon = { outcome: 'too soon', apiKeyId: ada.keyId }
  assert.deepEqual(outcomes[4], tooSoon)
  await eventually(async () => {
    const stamp = 'UPDATE api_keys SET last_used_at = clock_timestamp() WHERE id = $1'
    await client.query(stamp, [ada.keyId])
    const [again] = await useTogether(client, owners, [callWith(ada.key)])
    return isDeepStrictEqual(again, tooSoon)
  })
})

test('a use brings all rows of its own owner, in order, and no rows are an empty list', async (t) => {
  const { client, owners, ada, bob, none } = await openBatches(t, url)
  const outcomes = await useTogether(client, owners, [none.key, bob.key, ada.key].map(callWith))
  const lists = outcomes.map((outcome) => usedOf(outcome).rows)
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
    outcomes.map((outcome) => usedOf(outcome).userId),
    [none.user.id, bob.user.id, ada.user.id],
  )
  assert.equal(usedOf(outcomes[2]!).apiKeyId, ada.keyId)
})

test('what is remembered is sent along from the second use on, and spares the rows while it holds', async (t) => {
  const { client, owners, ada, none, age } = await openBatches(t, url)
  const recalled: string[] = []
  const use = async (key: string, revision: string | null) => {
    const recall = (userId: string) => {
      recalled.push(userId)
      return revision
    }
    const [outcome] = await useTogether(client, owners, [{ keyHash: hashApiKey(key), recall }])
    await age()
    return usedOf(outcome!)
  }
  const first = await use(ada.key, randomUUID())
  assert.deepEqual(recalled, [])
  assert.equal((await use(ada.key, first.revision)).rows, null)
  assert.deepEqual(recalled, [ada.user.id])
  assert.equal((await use(ada.key, first.revision)).rows, null)
  assert.equal((await use(ada.key, null)).rows?.length, 2)
  assert.equal((await use(ada.key, randomUUID())).rows?.length, 2)
  await client.query(`UPDATE servers SET name = 'x' WHERE created_by = $1`, [ada.user.id])
  const changed = await use(ada.key, first.revision)
  assert.equal(changed.rows?.length, 2)
  assert.notEqual(changed.revision, first.revision)
  // An owner who never had a server has no revision, and is read each time.
  const empty = await use(none.key, null)
  assert.deepEqual((await use(none.key, empty.revision)).rows, [])
})

test('after a crash known keys are held off for a second, and unknown and revoked ones are told', async (t) => {
  const { client, owners, ada, revoked } = await openBatches(t, url)
  await client.query('DELETE FROM service_epoch')
  const batch = [ada.key, revoked.key, generateKey()].map(callWith)
  const expectHeldOff = async () => {
    const outcomes = await useTogether(client, owners, batch)
    assert.deepEqual(outcomes.map(nameOf), ['AuthenticationFault', 'revoked', 'unknown'])
    assert.match((outcomes[0] as Error).message, /held off for a second/)
  }
  const isOfThePast = async () => {
    const { rows } = await client.query(
      'SELECT started_at <= clock_timestamp() AS past FROM service_epoch',
    )
    return isDeepStrictEqual(rows, [{ past: true }])
  }
  await expectHeldOff()
  assert.ok(await isOfThePast(), 'a new epoch has begun')
  // As where the clock was set back since.
  await client.query(`UPDATE service_epoch SET started_at = started_at + interval '1 hour'`)
  await expectHeldOff()
  assert.ok(await isOfThePast(), 'and is not waited for')
  await client.query(`UPDATE service_epoch SET started_at = started_at - interval '1 second'`)
  const [used] = await useTogether(client, owners, batch)
  assert.equal(nameOf(used!), 'used')
})

test('a stamp from the future is that of a clock that was set back: it holds from now on, and no longer', async (t) => {
  const { client, owners, ada, bob, age, useAhead } = await openBatches(t, url)
  await useAhead(ada.keyId)
  const batch = [ada.key, bob.key].map(callWith)
  const outcomes = await useTogether(client, owners, batch)
  assert.deepEqual(outcomes[0], { outcome: 'too soon', apiKeyId: ada.keyId })
  assert.equal(nameOf(outcomes[1]!), 'used')
  const { rows } = await client.query(
    `SELECT last_used_at <= clock_timestamp() AS past FROM api_keys WHERE id = $1`,
    [ada.keyId],
  )
  assert.equal(rows[0].past, true)
  await age()
  assert.deepEqual((await useTogether(client, owners, batch)).map(nameOf), ['used', 'used'])
})

test('when the statement has failed, the keys are judged without it', async (t) => {
  const { client, owners, ada, bob, eve, revoked, useAhead } = await openBatches(t, url)
  await useAhead(eve.keyId)
  const keys = [generateKey(), ada.key, revoked.key, bob.key, ada.key, eve.key]
  const batch = keys.map(callWith)
  await client.query('BEGIN; ALTER TABLE servers RENAME TO elsewhere; SAVEPOINT a')
  const cause = await useTogether(client, owners, batch).catch((error: unknown) => error)
  assert.ok(cause instanceof pg.DatabaseError)
  await client.query('ROLLBACK TO a')
  let outcomes: Outcome[] = []
  // A machine that stands still for a second has Bob's second over.
  await eventually(async () => {
    const stamp = 'UPDATE api_keys SET last_used_at = clock_timestamp() WHERE id = $1'
    await client.query(stamp, [bob.keyId])
    outcomes = await judgeTogether(client, batch, cause)
    return nameOf(outcomes[3]!) === 'too soon'
  })
  const [unknown, first, gone, soon, second, ahead] = outcomes
  assert.deepEqual(unknown, { outcome: 'unknown' })
  assert.deepEqual(gone, { outcome: 'revoked', apiKeyId: revoked.keyId })
  assert.deepEqual(soon, { outcome: 'too soon', apiKeyId: bob.keyId })
  // A stamp from the future says nothing about the last second.
  for (const fault of [first, second, ahead]) {
    assert.ok(fault instanceof ListFault)
    assert.equal(fault.message, 'the servers could not be read')
    assert.equal(fault.cause, cause)
  }
  await client.query('ROLLBACK')
})

test('where the keys cannot be read either, or nobody is there to be asked, authentication has failed', async (t) => {
  const { client, ada } = await openBatches(t, url)
  const batch = [ada.key, generateKey()].map(callWith)
  const fault = /^keys could not be looked up or their use not recorded$/
  await client.query('BEGIN; ALTER TABLE api_keys RENAME TO elsewhere')
  const failed = new pg.DatabaseError('x', 1, 'error')
  const unread = await judgeTogether(client, batch, failed)
  await client.query('ROLLBACK')
  // The server would answer now, but it was not the server that failed.
  const lost = new Error('Connection terminated')
  const unheard = await judgeTogether(client, batch, lost)
  for (const [outcomes, cause] of [
    [unread, failed],
    [unheard, lost],
  ] as const) {
    assert.deepEqual(outcomes.map(nameOf), ['AuthenticationFault', 'AuthenticationFault'])
    assert.match((outcomes[0] as Error).message, fault)
    assert.equal((outcomes[0] as Error).cause, cause)
  }
})
