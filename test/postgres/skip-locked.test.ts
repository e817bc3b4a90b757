import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { AUDIT_DROPPED, AUDIT_KEPT_US, operatorAt } from '../../src/model/audit.ts'
import { EXPIRED_DROPPED } from '../../src/accounts/sessions.ts'
import { ATTEMPTS_DROPPED } from '../../src/accounts/records/sign-in-attempts.ts'
import type { ServingStore } from '../../src/database/store.ts'
import { openServingPostgresStore } from '../../src/postgres/store.ts'
import { removeDatabase } from '../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { addUser } from '../fixtures/service.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { recordsOf } from '../fixtures/records.ts'
import { NOW } from '../fixtures/clock.ts'

/*
 * A request that deletes old rows on its way skips the ones that another transaction has locked.
 */

const SOON_US = 1_000_000

let server: Server
let url: string
let store: ServingStore
let other: pg.Client

before(async () => {
  server = await openServer()
  url = await createMigratedDatabase(server)
  store = await openServingPostgresStore(url)
  other = new pg.Client(url)
  await other.connect()
})
after(async () => {
  await other.end()
  await store.close()
  await removeDatabase(server, url)
  await server.remove()
})

test('an attempt to sign in does not wait for a locked old one', async () => {
  const [old, fresh] = ['old', 'new'].map((subject) => [{ subject, attemptsMax: 1 }])
  await recordsOf(store).beginAttempt(old!, 0, NOW)
  await whileLocked('sign_in_attempts', async () => {
    assert.equal(await recordsOf(store).beginAttempt(fresh!, NOW + 1, NOW + 1), null)
  })
})

test('an entry of the audit log does not wait for a locked old one', async () => {
  const entry = { user_id: null, action: 'sign-in', subject: '', address: '' } as const
  await recordsOf(store).writeAudit({ ...entry, occurred_at: NOW - AUDIT_KEPT_US - 1 })
  await whileLocked('audit_log', () => recordsOf(store).writeAudit({ ...entry, occurred_at: NOW }))
})

test('a session does not wait for a locked expired one', async () => {
  const [ada, bob] = [await addUser(store), await addUser(store, 'bob@example.com')]
  const begin = (userId: string, startedAt: number) => {
    const times = { startedAt, expiresAt: startedAt + SOON_US }
    const session = { userId, tokenHash: userId, userAgent: '', address: '', ...times }
    return recordsOf(store).beginSession(session, 'hash', null)
  }
  for (const { id } of [ada, bob])
    await recordsOf(store).setPassword(id, 'hash', operatorAt(presentInstant()))
  assert.ok(await begin(ada.id, NOW))
  await whileLocked('sessions', async () => {
    assert.ok(await begin(bob.id, NOW + SOON_US))
  })
})

test('a request deletes no more old rows than its limit, however PostgreSQL joins them', async (t) => {
  // A nested loop evaluates a subquery for each row. The deleted rows are locked and skipped then.
  const joins = ['hashjoin', 'mergejoin', 'hashagg', 'sort', 'material', 'memoize']
  const { pathname } = new URL(url)
  for (const kind of joins)
    await other.query(`ALTER DATABASE "${pathname.slice(1)}" SET enable_${kind} = off`)
  const nested = await openServingPostgresStore(url)
  t.after(() => nested.close())
  const countOf = async (table: string) =>
    Number((await other.query(`SELECT count(*) FROM ${table}`)).rows[0].count)

  for (const table of ['sign_in_attempts', 'audit_log']) await other.query(`DELETE FROM ${table}`)
  await other.query(`INSERT INTO sign_in_attempts (id, subject, attempted_at)
    SELECT gen_random_uuid(), 'x', to_timestamp(n) FROM generate_series(1, 300) n`)
  await recordsOf(nested).beginAttempt([{ subject: 'y', attemptsMax: 1 }], NOW, NOW)
  assert.equal(await countOf('sign_in_attempts'), 300 - ATTEMPTS_DROPPED + 1)

  await other.query(`INSERT INTO audit_log (id, occurred_at, action, subject, address)
    SELECT gen_random_uuid(), to_timestamp(n), 'sign-in', '', '' FROM generate_series(1, 300) n`)
  const entry = { user_id: null, action: 'sign-in', subject: '', address: '' } as const
  await recordsOf(nested).writeAudit({ ...entry, occurred_at: NOW })
  assert.equal(await countOf('audit_log'), 300 - AUDIT_DROPPED + 1)

  const carol = await addUser(nested, 'carol@example.com')
  await recordsOf(nested).setPassword(carol.id, 'hash', operatorAt(presentInstant()))
  await other.query('DELETE FROM sessions')
  await other.query(
    `INSERT INTO sessions
       (id, user_id, token_hash, address, user_agent, started_at, last_active_at, expires_at)
     SELECT gen_random_uuid(), $1, n, '', '', to_timestamp(0), to_timestamp(0), to_timestamp(n)
     FROM generate_series(1, 300) n`,
    [(await addUser(nested, 'dave@example.com')).id],
  )
  const times = { startedAt: NOW, expiresAt: NOW + SOON_US }
  const session = { userId: carol.id, tokenHash: 'c', userAgent: '', address: '', ...times }
  assert.ok(await recordsOf(nested).beginSession(session, 'hash', null))
  assert.equal(await countOf('sessions'), 300 - EXPIRED_DROPPED + 1)
})

/** The store gives up on a lock after two seconds and throws, so that a wait would show. */
async function whileLocked(table: string, body: () => Promise<void>): Promise<void> {
  await other.query('BEGIN')
  const { rowCount } = await other.query(`SELECT FROM ${table} FOR UPDATE`)
  assert.equal(rowCount, 1)
  await body()
  await other.query('ROLLBACK')
}
