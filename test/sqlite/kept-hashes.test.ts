import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { migrate } from '../../src/sqlite/migrate.ts'

/*
 * A filter of key hashes is exact as long as new keys get larger numbers, and keys keep their
 * hashes. The schema enforces both, whichever program writes to the file.
 */

test('a key keeps its number and its hash, whatever statement would change them', (t) => {
  const { database, insert } = openKeys(t)
  insert('INSERT', null, null)
  const readKeys = () =>
    database
      .prepare('SELECT serial, hex(key_hash) AS hash FROM api_keys')
      .all()
      .map((row) => Object.values(row))
  const before = readKeys()
  const changes = [
    'UPDATE api_keys SET key_hash = randomblob(32)',
    'UPDATE OR REPLACE api_keys SET key_hash = randomblob(32)',
    'UPDATE OR IGNORE api_keys SET serial = serial + 10',
    'UPDATE api_keys SET rowid = rowid + 10',
    `INSERT INTO api_keys SELECT * FROM api_keys WHERE true
     ON CONFLICT (serial) DO UPDATE SET key_hash = randomblob(32)`,
  ]
  for (const sql of changes) assert.throws(() => database.exec(sql), /of a key cannot change/, sql)
  assert.deepEqual(readKeys(), before)
  database.exec(`UPDATE api_keys SET key_hash = key_hash, serial = serial, name = 'other'`)
})

test('a new key cannot take a number up to the largest one before it', (t) => {
  const { database, insert } = openKeys(t)
  const readSerials = () =>
    database
      .prepare('SELECT serial FROM api_keys ORDER BY serial')
      .all()
      .map(({ serial }) => serial)
  insert('INSERT', null, null, null)
  database.exec('DELETE FROM api_keys WHERE serial > 1')
  for (const serial of [1, 2, 3])
    for (const verb of serial === 1 ? ['REPLACE'] : ['INSERT', 'INSERT OR IGNORE', 'REPLACE'])
      assert.throws(() => insert(verb, serial), /must be larger than those before/)
  assert.throws(() => insert('INSERT', 9, 2), /must be larger than those before/)
  assert.deepEqual(readSerials(), [1])
  insert('INSERT', null, null, 9, 8)
  insert('INSERT', null)
  assert.deepEqual(readSerials(), [1, 4, 5, 8, 9, 10])
})

/** `insert` adds a key for each number in one statement. SQLite chooses the number for null. */
function openKeys(t: TestContext) {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  migrate(database)
  database.exec(`INSERT INTO users VALUES ('ada', 'ada@example.com', '', 0, NULL, '', '')`)
  const insert = (verb: string, ...serials: (number | null)[]) => {
    const rows = serials.map(
      (serial) => `(${serial}, hex(randomblob(8)), 'ada', 'bot', '', randomblob(32), 1, 1, 1)`,
    )
    database.exec(`
      ${verb} INTO api_keys (serial, id, user_id, name, prefix, key_hash, created_at, revoked_at, slot)
      VALUES ${rows.join(', ')}`)
  }
  return { database, insert }
}
