import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openPostgresStore } from '../../../src/postgres/store.ts'
import { perform } from '../../contract/acts/document.ts'
import { eventually } from '../../fixtures/eventually.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('a document that PostgreSQL ends because of a deadlock is done again', async (t) => {
  const url = await createMigratedDatabase(server)
  const store = await openPostgresStore(url, { create: false })
  t.after(() => store.close())
  const put_users = ['1', '2'].map((external_id) => ({ external_id }))
  await perform(store, { put_users })
  await asAdmin(url, async (other) => {
    const { rows } = await other.query('SELECT id FROM users ORDER BY id')
    const [first, last] = rows.map(({ id }) => id)
    const lock = 'SELECT FROM users WHERE id = $1 FOR UPDATE'
    await other.query('BEGIN')
    await other.query(lock, [last])
    const banned = put_users.map((row) => ({ ...row, banned_at: '2026-01-01T00:00:00Z' }))
    // It has the first row, and waits for the last one.
    const performed = perform(store, { put_users: banned })
    await eventually(() =>
      asAdmin(url, async (admin) => {
        const waiting = await admin.query('SELECT FROM pg_locks WHERE NOT granted')
        return waiting.rowCount! > 0
      }),
    )
    await other.query(lock, [first])
    await other.query('COMMIT')
    assert.deepEqual((await performed).put_users, { added: 0, changed: 2, refused: [] })
  })
})
