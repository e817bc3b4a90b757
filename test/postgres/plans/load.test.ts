import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** More statements than PostgreSQL runs before it keeps a plan for all values. */
const STATEMENTS = 12

test('a load into tables that were analyzed while they were empty reads none of them whole', async () => {
  const url = await createMigratedDatabase(server)
  await asAdmin(url, async (client) => {
    await client.query('ANALYZE; BEGIN')
    const load = `
      WITH added AS (
        INSERT INTO users (external_id) SELECT gen_random_uuid()::text FROM generate_series(1, 20)
        RETURNING id
      ), listed AS (
        INSERT INTO servers (created_by, name, host_label) SELECT id, 'a', 'b' FROM added
      )
      INSERT INTO api_keys (user_id, name, prefix, key_hash, revoked_at)
      SELECT id, 'bot', 'svc_live_', sha256((id || '-' || n)::bytea), CASE n WHEN 3 THEN now() END
      FROM added, generate_series(1, 3) AS n`
    for (let n = 0; n < STATEMENTS; n += 1) await client.query(load)
    await client.query(`UPDATE users SET disabled_at = now()`)
    const { rows } = await client.query(`
      SELECT relname, seq_scan::int FROM pg_stat_xact_user_tables
      WHERE relname <> 'users' AND seq_scan > 0`)
    assert.deepEqual(rows, [])
  })
})
