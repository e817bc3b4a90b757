import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import { openServer, type Server } from '../../fixtures/postgres/server.ts'
import { uuidOf } from '../../fixtures/uuid-of.ts'

/*
 * A site bans the users whom its list lacks in REPEATABLE READ, where a trigger sees no key that
 * came after the snapshot.
 */

const [ADA, BOB] = [uuidOf(1), uuidOf(2)]
let server: Server
let site: pg.Client
let other: pg.Client
before(async () => {
  server = await openServer()
  const url = await createMigratedDatabase(server)
  ;[site, other] = [new pg.Client(url), new pg.Client(url)]
  await Promise.all([site.connect(), other.connect()])
  await site.query(
    `INSERT INTO users (id, external_id, created_at) VALUES ('${ADA}', 'ada', now()), ('${BOB}', 'bob', now())`,
  )
})
after(async () => {
  await Promise.all([site.end(), other.end()])
  await server.remove()
})

const BAN = `UPDATE users SET banned_at = now() WHERE id = '${ADA}'`
const issueTo = (owner: string) => `
  INSERT INTO api_keys (user_id, name, prefix, key_hash)
  VALUES ('${owner}', 'bot', '', '\\x${randomBytes(32).toString('hex')}')`

test('a ban whose snapshot lacks a key of the user fails, and can run again', async () => {
  await other.query(issueTo(BOB))
  for (const gained of [issueTo(ADA), `UPDATE api_keys SET user_id = '${ADA}'`]) {
    await site.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM users')
    await other.query(gained)
    await assert.rejects(site.query(BAN), { code: '40001' })
    await site.query(`ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ; ${BAN}; COMMIT`)
    const { rows } = await site.query(
      `SELECT count(*)::int AS count FROM api_keys WHERE user_id = '${ADA}' AND disabled_at IS NULL`,
    )
    assert.deepEqual(rows, [{ count: 0 }])
    await site.query('UPDATE users SET banned_at = NULL')
  }
})
