import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { createAnswer } from '../../../src/api/answer.ts'
import { generateKey } from '../../../src/keys/api-key.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { openServingPostgresStore } from '../../../src/postgres/store.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { hashOf, idOf, openSite, type Site } from './site.ts'

/*
 * Transactions that call acts at once, and the levels of isolation.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const NUMBERS = Array.from({ length: 40 }, (_, n) => n)
const ROUNDS = 20

/** A user whom the site removes and never adds again. */
const leaving = (n: number, round: number) => `${1_000 + Math.trunc(round / 4) * 40 + n}`

/** What the site calls with the numbers of this round, in any order. */
const OVERLAPPING: ((numbers: number[], round: number) => [act: string, rows: object[]])[] = [
  (numbers, round) => [
    'put_users',
    numbers.map((n) => ({ external_id: `${n}`, email: `${n}-${round}@example.com` })),
  ],
  (numbers, round) => [
    'put_users',
    numbers.map((n) => ({
      external_id: `${n}`,
      banned_at: round % 2 === 0 ? null : '2026-01-01T00:00:00Z',
    })),
  ],
  (numbers, round) => [
    'put_servers',
    numbers.map((n) => ({
      id: idOf(n),
      external_id: n < 7 ? leaving(n, round) : `${n % 7}`,
      name: `${round}`,
      address: 'a',
    })),
  ],
  (numbers) => ['remove_servers', numbers.slice(0, 20).map((n) => ({ id: idOf(n) }))],
  (numbers, round) => [
    'put_keys',
    numbers.map((n) => ({ external_id: `${n}`, name: `k${round}`, key_hash: keyOf(n) })),
  ],
  (numbers) => [
    'revoke_keys',
    numbers.slice(0, 20).map((n) => ({ external_id: `${n}`, key_hash: keyOf(n) })),
  ],
  (numbers, round) => [
    'remove_users',
    numbers.slice(0, 5).map((n) => ({ external_id: leaving(n, round) })),
  ],
]

const keyOf = (n: number) => n.toString(16).padStart(64, '0')

/** Another order of the numbers in each round of each session. */
const shuffled = (session: number, round: number) =>
  NUMBERS.toSorted((one, other) => order(one, session, round) - order(other, session, round))
const order = (n: number, session: number, round: number) =>
  (n * 7_919 + session * 104_729 + round * 1_299_709) % 1_009

async function callOn(
  { schema }: Site,
  client: pg.Client,
  act: string,
  rows: object[],
): Promise<void> {
  await client.query(`SELECT ${schema}.${act}($1)`, [JSON.stringify(rows)])
}

test('acts whose rows overlap in another order wait for each other, and end', async (t) => {
  const site = await openSite(t, server)
  await site.call(...OVERLAPPING[0]!(NUMBERS, 0))
  const all = Array.from({ length: ROUNDS * 40 }, (_, n) => ({ external_id: `${1_000 + n}` }))
  await site.call('put_users', all)
  const sessions = await Promise.all([1, 2, 3].map(site.connect))
  await Promise.all(
    sessions.map(async (client, session) => {
      for (let round = 1; round <= ROUNDS; round += 1) {
        const numbers = shuffled(session, round)
        const next = OVERLAPPING[(round + session) % OVERLAPPING.length]!
        await callOn(site, client, ...next(numbers, round * 3 + session))
      }
    }),
  )
  const ids = NUMBERS.map((n) => ({ external_id: `${n}` }))
  assert.equal((await site.call('put_users', ids)).added, 0)
})

/** Waits until a session of the database waits for a lock. */
const waits = ({ adminUrl }: Site) =>
  asAdmin(adminUrl, (admin) =>
    eventually(async () => {
      const waiting = `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return (await admin.query(waiting)).rowCount !== 0
    }),
  )

test('an address that another transaction takes meanwhile is a taken one', async (t) => {
  const site = await openSite(t, server)
  await site.call('put_users', [{ external_id: '1', email: 'old@example.com' }])
  const other = await site.connect()
  await other.query('BEGIN')
  await callOn(site, other, 'put_users', [{ external_id: '2', email: 'new@example.com' }])
  const answer = site.call('put_users', [{ external_id: '1', email: 'new@example.com' }])
  await waits(site)
  await other.query('COMMIT')
  const refused = [{ row: 0, external_id: '1', reason: 'address taken' }]
  assert.deepEqual(await answer, { added: 0, changed: 1, refused })
})

test('a user whom two transactions add at once is added once', async (t) => {
  const site = await openSite(t, server)
  const other = await site.connect()
  await other.query('BEGIN')
  await callOn(site, other, 'put_users', [{ external_id: '1', email: 'ada@example.com' }])
  const answer = site.call('put_users', [{ external_id: '1', email: 'bob@example.com' }])
  await waits(site)
  await other.query('COMMIT')
  assert.deepEqual((await answer).added, 0)
  assert.deepEqual(await site.own('SELECT email FROM users'), [{ email: 'bob@example.com' }])
})

const user = { external_id: '1', email: 'ada@example.com', banned_at: '2026-01-01T00:00:00Z' }
const one = { external_id: '1', id: idOf(1), name: 'One', address: 'a' }
const key = { external_id: '1', name: 'bot', key_hash: hashOf('a') }

test('an open transaction of a site stops no claim, and no key of another user', async (t) => {
  const site = await openSite(t, server)
  await site.call('put_users', [{ external_id: '1' }, { external_id: '2' }])
  const secret = generateKey()
  const hash = hashApiKey(secret).toString('hex')
  await site.call('put_keys', [{ ...key, key_hash: hash }])
  const store = await openServingPostgresStore(site.url)
  t.after(store.close)
  const answer = createAnswer({ store, onFault: String })
  const other = await site.connect()
  await other.query('BEGIN')
  const servers = NUMBERS.map((n) => ({ ...one, id: idOf(n) }))
  await callOn(site, other, 'put_servers', servers)
  await callOn(site, other, 'put_keys', [{ ...key, key_hash: hashOf('b') }])
  const request = { method: 'GET', path: '/v1/servers', authorization: `Bearer ${secret}` }
  const { status, body } = await answer(request)
  assert.deepEqual([status, body.toString()], [200, '{"servers":[]}'])
  const second = [{ ...key, external_id: '2', key_hash: hashOf('c') }]
  assert.equal((await site.call('put_keys', second)).added, 1)
  await other.query('ROLLBACK')
})

test('acts work in any isolation, but keys are added in READ COMMITTED alone', async (t) => {
  const { call, query, own } = await openSite(t, server)
  for (const level of ['REPEATABLE READ', 'SERIALIZABLE']) {
    await query(`BEGIN ISOLATION LEVEL ${level}`)
    assert.equal((await call('put_users', [user], true)).added, 1)
    assert.equal((await call('put_servers', [one], true)).added, 1)
    assert.equal((await call('revoke_keys', [{ external_id: '1', id: idOf(1) }])).revoked, 0)
    await assert.rejects(call('put_keys', [key]), { code: '25000', message: /READ COMMITTED/ })
    await query('ROLLBACK')
  }
  for (const table of ['users', 'servers', 'api_keys', 'audit_log'])
    assert.deepEqual(await own(`SELECT FROM ${table}`), [], table)
})

test('no rows are no act', async (t) => {
  const { call, query } = await openSite(t, server)
  for (const act of ['put_users', 'put_servers', 'put_keys', 'revoke_keys', 'remove_users']) {
    const { rows } = await query(`SELECT listing.${act}(NULL) AS answer`)
    assert.deepEqual(rows, [{ answer: null }])
    assert.deepEqual((await call(act, [])).refused, [])
  }
})

test('a ban and a revocation are on the disk when they are committed, whatever the session says', async (t) => {
  const { call, query } = await openSite(t, server)
  const setting = async () =>
    (await query(`SELECT current_setting('synchronous_commit') AS is`)).rows[0].is
  await query('SET synchronous_commit = off')
  await call('put_users', [{ ...user, banned_at: null }])
  for (const [act, row, expected] of [
    ['put_users', { ...user, banned_at: null }, 'off'],
    ['put_servers', one, 'off'],
    ['put_users', user, 'on'],
    ['put_keys', key, 'on'],
    ['revoke_keys', { external_id: '1', key_hash: key.key_hash }, 'on'],
    ['remove_users', { external_id: '1' }, 'on'],
  ] as const) {
    await query('BEGIN')
    await call(act, [row])
    assert.equal(await setting(), expected, act)
    await query('COMMIT')
    assert.equal(await setting(), 'off')
  }
})
