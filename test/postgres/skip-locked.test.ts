import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { AUDIT_KEPT_US } from '../../src/listing/accounts/audit.ts'
import { openServingPostgresStore, type ServingPostgresStore } from '../../src/postgres/store.ts'
import { createDatabase, removeDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { addUser } from '../fixtures/service.ts'

/*
 * A request that deletes old rows on its way skips the ones that another transaction has locked.
 */

const NOW = 1_800_000_000_000_000
const SOON_US = 1_000_000

let server: Server
let url: string
let store: ServingPostgresStore
let other: pg.Client

before(async () => {
  server = await openServer()
  url = await createDatabase(server)
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
  await store.beginAttempt(old!, 0, NOW)
  await whileLocked('sign_in_attempts', async () => {
    assert.equal(await store.beginAttempt(fresh!, NOW + 1, NOW + 1), null)
  })
})

test('an entry of the audit log does not wait for a locked old one', async () => {
  const entry = { user_id: null, action: 'sign-in', subject: '', address: '' } as const
  await store.writeAudit({ ...entry, occurred_at: NOW - AUDIT_KEPT_US - 1 })
  await whileLocked('audit_log', () => store.writeAudit({ ...entry, occurred_at: NOW }))
})

test('a session does not wait for a locked expired one', async () => {
  const [ada, bob] = [await addUser(store), await addUser(store, 'bob@example.com')]
  const begin = (userId: string, startedAt: number) => {
    const times = { startedAt, expiresAt: startedAt + SOON_US }
    const session = { userId, tokenHash: userId, userAgent: '', address: '', ...times }
    return store.beginSession(session, 'hash', null)
  }
  for (const { id } of [ada, bob]) await store.setPassword(id, 'hash', NOW)
  assert.ok(await begin(ada.id, NOW))
  await whileLocked('sessions', async () => {
    assert.ok(await begin(bob.id, NOW + SOON_US))
  })
})

/** The store gives up on a lock after two seconds and throws, so that a wait would show. */
async function whileLocked(table: string, body: () => Promise<void>): Promise<void> {
  await other.query('BEGIN')
  const { rowCount } = await other.query(`SELECT FROM ${table} FOR UPDATE`)
  assert.equal(rowCount, 1)
  await body()
  await other.query('ROLLBACK')
}
