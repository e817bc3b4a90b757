import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { migratePostgres } from '../../src/postgres/store.ts'
import { migrate } from '../../src/sqlite/migrate.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { keptReleases } from '../reliability/releases/kept.ts'
import { postgresOf, sqliteOf } from '../reliability/releases/placed.ts'

/*
 * Databases of 0.1.0 have an open invitation. The migration ends it and changes no other row that
 * organizations are made of.
 */

const release = keptReleases().find(({ version }) => version === '0.1.0')!
const KEPT = ['users', 'organizations', 'members', 'servers', 'audit_log', 'api_keys']

/** The migration adds the columns. */
const ofThatTime = (rows: object[]): object[] =>
  rows.map((row) => ({ ...row, banned_at: undefined, xid: undefined }))

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

test('an open invitation in an SQLite file of 0.1.0 ends', (t) => {
  const database = new DatabaseSync(sqliteOf(t, release).path)
  t.after(() => database.close())
  const rowsOf = (table: string) =>
    ofThatTime(database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all())
  const kept = KEPT.map(rowsOf)
  assert.equal(rowsOf('invitations').length, 1)
  migrate(database)
  assert.deepEqual(rowsOf('invitations'), [])
  assert.deepEqual(KEPT.map(rowsOf), kept)
})

test('an open invitation in a PostgreSQL database of 0.1.0 ends', async () => {
  const { url } = await postgresOf(server, release)
  const rowsOf = (table: string) =>
    asAdmin(url, async (admin) =>
      ofThatTime((await admin.query(`SELECT * FROM ${table} ORDER BY 1, 2`)).rows),
    )
  const kept = await Promise.all(KEPT.map(rowsOf))
  assert.equal((await rowsOf('invitations')).length, 1)
  await migratePostgres(url)
  assert.deepEqual(await rowsOf('invitations'), [])
  assert.deepEqual(await Promise.all(KEPT.map(rowsOf)), kept)
})
