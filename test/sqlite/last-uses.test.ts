import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { MIGRATIONS, migrate } from '../../src/sqlite/migrate.ts'

/*
 * The tables and the view that other programs read. The program itself does not exercise all of
 * these rules.
 */

const PREFIX = 'svc_live_0000000'

/** A file with these keys. Serials start at 1. */
function withKeys(t: TestContext, ...ids: string[]): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  migrate(database)
  database.exec(`INSERT INTO users VALUES ('ada', 'ada@example.com', '', 0, NULL, '', '')`)
  const insert = database.prepare(`
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, slot)
    VALUES (?, 'ada', 'bot', '${PREFIX}', randomblob(32), 1, ?)
  `)
  for (const [index, id] of ids.entries()) insert.run(id, index + 1)
  return database
}

test('the view shows each key once with its latest claim, compacted or not', (t) => {
  const database = withKeys(t, 'never', 'recent', 'compacted', 'both', 'older')
  database.exec(`
    INSERT INTO uses VALUES (1, 2, 20, 1, 1), (2, 2, 30, 1, 1), (3, 2, 25, 1, 1), (4, 4, 50, 1, 1);
    INSERT INTO last_uses VALUES (3, 40, 1, 1), (4, 45, 1, 1);
    INSERT INTO older_uses VALUES (2, 98), (3, 99), (5, 10);
  `)
  const rows = database.prepare('SELECT * FROM api_key_uses ORDER BY last_used_at').all()
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { api_key_id: 'never', prefix: PREFIX, last_used_at: null },
      { api_key_id: 'older', prefix: PREFIX, last_used_at: 10 },
      // The wall clock went back, so the latest claim has an earlier time.
      { api_key_id: 'recent', prefix: PREFIX, last_used_at: 25 },
      { api_key_id: 'compacted', prefix: PREFIX, last_used_at: 40 },
      { api_key_id: 'both', prefix: PREFIX, last_used_at: 50 },
    ],
  )
})

test('two keys have different ids, and serials of 1 to 100,000,000', (t) => {
  const database = withKeys(t, 'one', 'two')
  const insert = database.prepare(`
    INSERT INTO api_keys (serial, id, user_id, name, prefix, key_hash, created_at, slot)
    VALUES (?, ?, 'ada', 'bot', '${PREFIX}', randomblob(32), 1, 3)
  `)
  assert.throws(() => insert.run(3, 'two'), /UNIQUE constraint failed: api_keys.id/)
  for (const serial of [0, -1, 100_000_001])
    assert.throws(() => insert.run(serial, 'three'), /CHECK constraint failed/)
  insert.run(100_000_000, 'three')
  const serials = database.prepare('SELECT serial FROM api_keys ORDER BY serial').all()
  assert.deepEqual(
    serials.map(({ serial }) => serial),
    [1, 2, 100_000_000],
  )
})

test('the schema stores each boot id once', (t) => {
  const database = withKeys(t)
  database.exec(`INSERT INTO boots (boot_id) VALUES ('first'), ('second')`)
  assert.throws(() => database.exec(`INSERT INTO boots (boot_id) VALUES ('first')`), /UNIQUE/)
})

test('an upgrade makes users owners of the organizations with their servers', (t) => {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  migrate(database, MIGRATIONS.slice(0, 1))
  database.exec(`
    INSERT INTO users VALUES ('ada', 'ada@example.com', '', 0, NULL, '', ''),
      ('bob', 'bob@example.com', '', 0, NULL, '', '');
    INSERT INTO organizations VALUES ('guild', 'guild', ''), ('clan', 'clan', '');
    INSERT INTO servers (id, created_by, organization_id, name, host_label, updated_at) VALUES
      ('1', 'ada', 'guild', '', '', 1), ('2', 'ada', 'guild', '', '', 1), ('3', 'ada', 'clan', '', '', 1),
      ('4', 'ada', NULL, '', '', 1), ('5', 'bob', NULL, '', '', 1);
  `)
  migrate(database)
  const members = database
    .prepare('SELECT organization_id, user_id, role FROM members ORDER BY organization_id')
    .all()
  assert.deepEqual(
    members.map((row) => Object.values(row)),
    [
      ['clan', 'ada', 'owner'],
      ['guild', 'ada', 'owner'],
    ],
  )
})
