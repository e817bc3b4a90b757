import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { migrate } from '../../src/sqlite/migrate.ts'
import { uuidOf } from '../fixtures/uuid-of.ts'

/*
 * The tables and the view that other programs read. The program itself does not exercise all of
 * these rules.
 */

const PREFIX = 'svc_live_0000000'
const ADA = uuidOf(99)

/** A file with this many keys, whose ids are made from their serials. */
function withKeys(t: TestContext, count: number): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  migrate(database)
  database.exec(
    `INSERT INTO users (id, email, external_id, created_at, disabled_at) VALUES ('${ADA}', 'ada@example.com', NULL, 0, NULL)`,
  )
  const insert = database.prepare(`
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
    VALUES (?, '${ADA}', 'bot', '${PREFIX}', randomblob(32), 1)
  `)
  for (let serial = 1; serial <= count; serial += 1) insert.run(uuidOf(serial))
  return database
}

test('the view shows each key once with its latest claim, compacted or not', (t) => {
  const database = withKeys(t, 5)
  database.exec(`
    INSERT INTO recent_claims VALUES (1, 2, 20, 1, 1), (2, 2, 30, 1, 1), (3, 2, 25, 1, 1), (4, 4, 50, 1, 1);
    INSERT INTO last_claims VALUES (3, 40, 1, 1), (4, 45, 1, 1);
    INSERT INTO older_claims VALUES (2, 98), (3, 99), (5, 10);
  `)
  const rows = database.prepare('SELECT * FROM api_key_uses ORDER BY last_used_at').all()
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      // Never used; only in older_claims, recent_claims or last_claims; in both of the latter.
      { api_key_id: uuidOf(1), prefix: PREFIX, last_used_at: null },
      { api_key_id: uuidOf(5), prefix: PREFIX, last_used_at: 10 },
      // The wall clock went back, so the latest claim has an earlier time.
      { api_key_id: uuidOf(2), prefix: PREFIX, last_used_at: 25 },
      { api_key_id: uuidOf(3), prefix: PREFIX, last_used_at: 40 },
      { api_key_id: uuidOf(4), prefix: PREFIX, last_used_at: 50 },
    ],
  )
})

test('two keys have different ids, and serials of 1 to 100,000,000', (t) => {
  const database = withKeys(t, 2)
  const insert = database.prepare(`
    INSERT INTO api_keys (serial, id, user_id, name, prefix, key_hash, created_at)
    VALUES (?, ?, '${ADA}', 'bot', '${PREFIX}', randomblob(32), 1)
  `)
  assert.throws(() => insert.run(3, uuidOf(2)), /UNIQUE constraint failed: api_keys.id/)
  for (const serial of [0, -1, 100_000_001])
    assert.throws(() => insert.run(serial, uuidOf(3)), /CHECK constraint failed/)
  insert.run(100_000_000, uuidOf(3))
  const serials = database.prepare('SELECT serial FROM api_keys ORDER BY serial').all()
  assert.deepEqual(
    serials.map(({ serial }) => serial),
    [1, 2, 100_000_000],
  )
})

test('the schema stores each boot id once', (t) => {
  const database = withKeys(t, 0)
  database.exec(`INSERT INTO boots (boot_id) VALUES ('first'), ('second')`)
  assert.throws(() => database.exec(`INSERT INTO boots (boot_id) VALUES ('first')`), /UNIQUE/)
})
