import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { migrate } from '../../../src/sqlite/migrate.ts'
import { uuidOf } from '../../fixtures/uuid-of.ts'

/*
 * No statement of any program loses a listed hash or makes its key active, whatever the settings of
 * the connection. SQLite's own command line has both of these off.
 */

const SETTINGS = [
  { recursive: 'OFF', foreignKeys: 'OFF' },
  { recursive: 'OFF', foreignKeys: 'ON' },
  { recursive: 'ON', foreignKeys: 'OFF' },
  { recursive: 'ON', foreignKeys: 'ON' },
]

const hashOf = (name: string) => `X'${createHash('sha256').update(name).digest('hex')}'`
const [ADA, BOB] = [uuidOf(1), uuidOf(2)]
const columns = '(serial, id, user_id, name, prefix, key_hash, created_at, revoked_at)'
/** The values of a key; the serial NULL lets SQLite choose. */
const key = (
  serial: number | null,
  id: number,
  name: string,
  { user = ADA, revokedAt = 'NULL' } = {},
) =>
  `(${serial ?? 'NULL'}, '${uuidOf(id)}', '${user}', '${name}', '', ${hashOf(name)}, 1, ${revokedAt})`
const other = key(null, 19, 'other')

/** Statements after which `revoked` must be listed and revoked, and `active` not listed. */
const STATEMENTS: [sql: string, refusal?: RegExp][] = [
  ['UPDATE api_keys SET revoked_at = NULL'],
  ['UPDATE OR REPLACE api_keys SET revoked_at = NULL'],
  ['UPDATE OR IGNORE api_keys SET revoked_at = NULL, disabled_at = 5'],
  [`INSERT OR REPLACE INTO api_keys ${columns} VALUES ${key(null, 11, 'revoked')}`, /delete a key/],
  [`INSERT OR REPLACE INTO api_keys ${columns} VALUES ${key(2, 12, 'revoked')}`, /delete a key/],
  [`INSERT OR REPLACE INTO api_keys ${columns} VALUES ${key(null, 13, 'revoked')}`, /delete a key/],
  [`INSERT OR IGNORE INTO api_keys ${columns} VALUES ${key(null, 13, 'revoked')}`],
  [
    `INSERT INTO api_keys ${columns} VALUES ${key(null, 13, 'revoked')}
    ON CONFLICT (key_hash) DO UPDATE SET revoked_at = NULL`,
  ],
  [`INSERT INTO api_keys ${columns} VALUES ${key(null, 13, 'revoked')} ON CONFLICT DO NOTHING`],
  [`INSERT OR REPLACE INTO api_keys ${columns} VALUES ${key(null, 12, 'new')}`, /delete a key/],
  [`INSERT OR REPLACE INTO api_keys ${columns} VALUES ${key(2, 13, 'new')}`, /delete a key/],
  [`DELETE FROM api_keys; INSERT INTO api_keys ${columns} VALUES ${key(null, 13, 'revoked')}`],
  [
    `DELETE FROM users; INSERT INTO users (id, email, external_id, created_at, disabled_at) VALUES ('${ADA}', 'ada@example.com', NULL, 0, NULL);
    INSERT INTO api_keys ${columns} VALUES ${key(null, 13, 'revoked')}`,
  ],
  [
    `REPLACE INTO users (id, email, external_id, created_at, disabled_at) VALUES ('${ADA}', 'ada@example.com', NULL, 0, NULL)`,
    /delete a user/,
  ],
  [`UPDATE OR REPLACE api_keys SET id = '${uuidOf(11)}' WHERE serial = 2`, /never change/],
  [
    `UPDATE OR REPLACE api_keys SET key_hash = ${hashOf('active')} WHERE serial = 2`,
    /never change/,
  ],
  [`UPDATE OR IGNORE api_keys SET key_hash = ${hashOf('new')}`, /never change/],
  ['UPDATE api_keys SET serial = 7 WHERE serial = 2', /never change/],
  ['UPDATE OR REPLACE api_keys SET rowid = 2 WHERE serial = 1', /never change/],
  ['UPDATE OR REPLACE api_keys SET _rowid_ = 7 WHERE serial = 2', /never change/],
  ['DELETE FROM revoked_hashes', /only grows/],
  ['DELETE FROM revoked_hashes WHERE number = 1', /only grows/],
  ['UPDATE OR IGNORE revoked_hashes SET revoked_at = 7', /only grows/],
  [`UPDATE OR REPLACE revoked_hashes SET key_hash = ${hashOf('new')}`, /only grows/],
  ['UPDATE OR REPLACE revoked_hashes SET rowid = 9', /only grows/],
  [`REPLACE INTO revoked_hashes (key_hash, revoked_at) VALUES (${hashOf('revoked')}, 9)`],
  [`REPLACE INTO revoked_hashes VALUES (1, ${hashOf('new')}, 9)`, /leave number out/],
  [`INSERT INTO revoked_hashes VALUES (-1, ${hashOf('new')}, 9)`, /CHECK constraint failed/],
  [
    `DELETE FROM sqlite_sequence; REPLACE INTO revoked_hashes VALUES (1, ${hashOf('new')}, 9)`,
    /leave number out/,
  ],
  [
    `REPLACE INTO revoked_hashes VALUES (20, ${hashOf('new')}, 9), (20, ${hashOf('newer')}, 9)`,
    /leave number out/,
  ],
  [
    `INSERT INTO revoked_hashes (key_hash, revoked_at) VALUES (${hashOf('revoked')}, 9)
    ON CONFLICT (key_hash) DO UPDATE SET revoked_at = 9`,
  ],
  [
    `INSERT OR FAIL INTO api_keys ${columns} VALUES ${key(null, 13, 'new', { revokedAt: '4' })}, ${other}, ${other}`,
    /UNIQUE/,
  ],
]

for (const { recursive, foreignKeys } of SETTINGS)
  test(`nothing listed is lost with recursive_triggers ${recursive} and foreign_keys ${foreignKeys}`, (t) => {
    for (const [sql, refusal] of STATEMENTS) {
      const database = openFile(t)
      database.exec(
        `PRAGMA recursive_triggers = ${recursive}; PRAGMA foreign_keys = ${foreignKeys}`,
      )
      const run = () => database.exec(sql)
      if (refusal === undefined) assert.doesNotThrow(run, sql)
      else assert.throws(run, refusal, sql)
      const listed = rows(
        database,
        'SELECT key_hash, revoked_at FROM revoked_hashes WHERE number = 1',
      )
      assert.deepEqual(listed, [`${hashOf('revoked')} 3`], sql)
      assert.deepEqual(
        rows(
          database,
          `SELECT serial FROM api_keys WHERE revoked_at IS NULL
          AND key_hash IN (SELECT key_hash FROM revoked_hashes)`,
        ),
        [],
        sql,
      )
      assert.deepEqual(
        rows(
          database,
          `SELECT serial FROM api_keys WHERE revoked_at IS NOT NULL
          AND key_hash NOT IN (SELECT key_hash FROM revoked_hashes)`,
        ),
        [],
        sql,
      )
      assert.deepEqual(
        rows(database, `SELECT 1 FROM revoked_hashes WHERE key_hash = ${hashOf('active')}`),
        [],
        sql,
      )
      database.close()
    }
  })

for (const { recursive, foreignKeys } of SETTINGS)
  test(`a union of lists revokes with recursive_triggers ${recursive} and foreign_keys ${foreignKeys}`, (t) => {
    const database = openFile(t)
    database.exec(`PRAGMA recursive_triggers = ${recursive}; PRAGMA foreign_keys = ${foreignKeys}`)
    const hashes = ['active', 'revoked', 'new', 'active'].map((name) => `(${hashOf(name)}, 8)`)
    database.exec(`INSERT INTO revoked_hashes (key_hash, revoked_at) VALUES ${hashes.join()}`)
    assert.deepEqual(rows(database, 'SELECT name, revoked_at FROM api_keys ORDER BY name'), [
      'active 8',
      'revoked 3',
    ])
    // In the order of their arrival, each once.
    assert.deepEqual(
      rows(database, 'SELECT number, key_hash FROM revoked_hashes ORDER BY number'),
      ['revoked', 'active', 'new'].map((name, index) => `${index + 1} ${hashOf(name)}`),
    )
    database.exec(`INSERT INTO api_keys ${columns} VALUES ${key(null, 13, 'new')}`)
    assert.deepEqual(rows(database, `SELECT revoked_at FROM api_keys WHERE name = 'new'`), ['8'])
  })

for (const fact of ['disabled_at', 'banned_at'])
  test(`a user that comes after the keys disables them if ${fact} is set, and has access only without it`, (t) => {
    const database = openFile(t)
    database.exec(`PRAGMA foreign_keys = OFF;
    INSERT INTO api_keys ${columns} VALUES ${key(null, 13, 'new', { user: BOB })};
    ${accessOf(BOB)}
    INSERT INTO users (id, email, created_at, ${fact}) VALUES ('${BOB}', 'bob@example.com', 0, 6)`)
    const disabled = () => rows(database, 'SELECT name, disabled_at FROM api_keys ORDER BY serial')
    assert.deepEqual(disabled(), ['active null', 'revoked null', 'new 6'])
    const access = () =>
      rows(database, 'SELECT token_hash FROM sign_in_links UNION SELECT token_hash FROM sessions')
    assert.deepEqual(access(), [])
    database.exec(`DROP TRIGGER users_removed; DELETE FROM users WHERE id = '${BOB}';
    ${accessOf(BOB)}
    INSERT INTO users (id, email, created_at) VALUES ('${BOB}', 'bob@example.com', 0)`)
    assert.deepEqual(disabled(), ['active null', 'revoked null', 'new null'])
    assert.deepEqual(access(), [`link of ${BOB}`, `session of ${BOB}`])
    database.exec(`${accessOf(ADA)} UPDATE users SET ${fact} = 7 WHERE id = '${ADA}'`)
    assert.deepEqual(access(), [`link of ${BOB}`, `session of ${BOB}`])
  })

test('a user with more active keys than the rule allows is disabled and enabled', (t) => {
  const database = openFile(t)
  // As in a file from before the rule.
  database.exec('DROP TRIGGER api_keys_added')
  for (const id of [13, 14, 15, 16, 17])
    database.exec(`INSERT INTO api_keys ${columns} VALUES ${key(null, id, `key ${id}`)}`)
  const count = `SELECT count(*) FROM api_keys WHERE revoked_at IS NULL AND disabled_at = 7`
  database.exec('UPDATE users SET disabled_at = 7')
  assert.deepEqual(rows(database, count), ['6'])
  database.exec('UPDATE users SET disabled_at = NULL')
  assert.deepEqual(rows(database, count), ['0'])
})

/** SQL for a session and a sign-in link. */
const accessOf = (user: string) => `
  INSERT INTO sign_in_links VALUES ('${user}', 'link of ${user}', 9);
  INSERT INTO sessions VALUES ('${user}', '${user}', 'session of ${user}', '', '', 0, 0, 0, NULL);`

/** Ada's keys: `active` with serial 1, and `revoked` with serial 2. */
function openFile(t: TestContext): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.isOpen && database.close())
  migrate(database)
  database.exec(`
    INSERT INTO users (id, email, external_id, created_at, disabled_at) VALUES ('${ADA}', 'ada@example.com', NULL, 0, NULL);
    INSERT INTO api_keys ${columns} VALUES ${key(1, 11, 'active')}, ${key(2, 12, 'revoked', { revokedAt: '3' })}`)
  return database
}

/** The rows, each as one text. */
function rows(database: DatabaseSync, sql: string): string[] {
  return database
    .prepare(sql)
    .all()
    .map((row) =>
      Object.values(row)
        .map((value) =>
          value instanceof Uint8Array ? `X'${Buffer.from(value).toString('hex')}'` : `${value}`,
        )
        .join(' '),
    )
}
