import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { migrate } from '../../../src/sqlite/migrate.ts'
import { uuidOf } from '../../fixtures/uuid-of.ts'

/*
 * No statement of any program replaces a user, an organization or a key: what refers to the row
 * would stay without an owner, or go without being revoked.
 */

const [ADA, BOB, NEW] = [uuidOf(1), uuidOf(2), uuidOf(3)]
const [GUILD, CLAN] = [uuidOf(4), uuidOf(5)]
const user = (id: string, email: string, externalId: string) =>
  `(id, email, external_id, created_at) VALUES ('${id}', '${email}', '${externalId}', 1)`

const key = (serial: string, number: number, hash: string) =>
  `INTO api_keys (serial, id, user_id, name, prefix, key_hash, created_at)
   VALUES (${serial}, '${uuidOf(number)}', '${ADA}', 'k', '', ${hash}, 1)`

/** Statements that would delete a row. */
const REFUSED: [sql: string, refusal: RegExp][] = [
  [`REPLACE INTO users ${user(ADA, 'ada@example.com', 'ada')}`, /delete a user/],
  [`REPLACE INTO organizations VALUES ('${GUILD}', 'guild', 'New')`, /delete an organization/],
  [`REPLACE ${key('NULL', 8, `unhex('${'01'.repeat(32)}')`)}`, /delete a key/],
  [`REPLACE ${key('NULL', 9, 'zeroblob(32)')}`, /delete a key/],
  [`REPLACE ${key('1', 9, `unhex('${'01'.repeat(32)}')`)}`, /delete a key/],
  // This deleted key would get its number back, which another key has now.
  [`REPLACE ${key('NULL', 9, `unhex('${'02'.repeat(32)}')`)}`, /delete a key/],
  [`INSERT ${key('NULL', 9, 'zeroblob(32)')}`, /UNIQUE constraint failed: api_keys/],
  [`REPLACE INTO users ${user(NEW, 'ada@example.com', 'new')}`, /delete a user/],
  [`REPLACE INTO users ${user(NEW, 'new@example.com', 'ada')}`, /delete a user/],
  [`REPLACE INTO users ${user(BOB, 'ada@example.com', 'bob')}`, /delete a user/],
  [
    `REPLACE INTO users (rowid, id, email, created_at) VALUES (1, '${NEW}', 'new@example.com', 1)`,
    /delete a user/,
  ],
  [`UPDATE OR REPLACE users SET email = 'ada@example.com' WHERE id = '${BOB}'`, /delete a user/],
  [`UPDATE OR REPLACE users SET external_id = 'ada' WHERE id = '${BOB}'`, /delete a user/],
  [`UPDATE OR REPLACE users SET rowid = 1 WHERE id = '${BOB}'`, /delete a user/],
  [`REPLACE INTO organizations VALUES ('${NEW}', 'guild', 'New')`, /delete an organization/],
  [
    `REPLACE INTO organizations (rowid, id, slug, name) VALUES (1, '${NEW}', 'new', 'New')`,
    /delete an organization/,
  ],
  [
    `UPDATE OR REPLACE organizations SET slug = 'guild' WHERE id = '${CLAN}'`,
    /delete an organization/,
  ],
  [`UPDATE OR REPLACE organizations SET rowid = 1 WHERE id = '${CLAN}'`, /delete an organization/],
  [`INSERT INTO users ${user(NEW, 'ada@example.com', 'new')}`, /UNIQUE constraint failed: users/],
  [`INSERT OR FAIL INTO users ${user(NEW, 'ada@example.com', 'new')}`, /UNIQUE constraint/],
  [
    `UPDATE users SET email = 'ada@example.com' WHERE id = '${BOB}'`,
    /UNIQUE constraint failed: users/,
  ],
]

/** Statements that leave the row that is in their way. */
const ALLOWED: [sql: string, changes: number][] = [
  [`INSERT OR IGNORE INTO users ${user(NEW, 'ada@example.com', 'new')}`, 0],
  [`INSERT INTO users ${user(NEW, 'ada@example.com', 'new')} ON CONFLICT DO NOTHING`, 0],
  [
    `INSERT INTO users ${user(NEW, 'new@example.com', 'ada')}
     ON CONFLICT (external_id) DO UPDATE SET email = excluded.email`,
    1,
  ],
  [`UPDATE OR IGNORE users SET email = 'ada@example.com' WHERE id = '${BOB}'`, 0],
  [`REPLACE INTO users ${user(NEW, 'new@example.com', 'new')}`, 1],
  [`UPDATE OR REPLACE users SET email = 'new@example.com' WHERE id = '${BOB}'`, 1],
  [`REPLACE INTO organizations VALUES ('${NEW}', 'new', 'New')`, 1],
  [`REPLACE ${key('NULL', 9, `unhex('${'01'.repeat(32)}')`)}`, 1],
  [`INSERT OR IGNORE ${key('NULL', 9, 'zeroblob(32)')}`, 0],
  [`INSERT ${key('NULL', 8, 'zeroblob(32)')} ON CONFLICT (id) DO UPDATE SET name = 'new'`, 1],
  [
    `INSERT INTO users ${user(ADA, 'ada@example.com', 'new')}
     ON CONFLICT (id) DO UPDATE SET external_id = excluded.external_id`,
    1,
  ],
  [`INSERT OR IGNORE INTO organizations VALUES ('${NEW}', 'guild', 'New')`, 0],
  [
    `INSERT INTO organizations VALUES ('${NEW}', 'guild', 'New')
     ON CONFLICT (slug) DO UPDATE SET name = excluded.name`,
    1,
  ],
]

for (const recursive of ['OFF', 'ON'])
  for (const foreignKeys of ['OFF', 'ON']) {
    const settings = `PRAGMA recursive_triggers = ${recursive}; PRAGMA foreign_keys = ${foreignKeys}`
    test(`nothing replaces a user, an organization or a key with ${settings}`, (t) => {
      const database = openFile(t)
      database.exec(settings)
      const before = contentOf(database)
      const ledger = ledgerOf(database)
      for (const [sql, refusal] of REFUSED) {
        assert.throws(() => database.exec(sql), refusal, sql)
        assert.deepEqual(contentOf(database), before, sql)
        assert.deepEqual(ledgerOf(database), ledger, sql)
      }
      for (const [sql, changes] of ALLOWED) {
        database.exec('BEGIN')
        assert.equal(database.prepare(sql).run().changes, changes, sql)
        // The ledger is the same, and what was ignored is not held against the next statement.
        assert.deepEqual(ledgerOf(database), ledger)
        database.exec(`DELETE FROM users WHERE id = '${ADA}'`)
        database.exec(`DELETE FROM organizations WHERE id = '${GUILD}'; SAVEPOINT gone`)
        for (const next of [
          'UPDATE users SET created_at = 2',
          `INSERT INTO users ${user(uuidOf(9), 'late@example.com', 'late')}`,
          `UPDATE organizations SET name = 'Other'`,
          `INSERT INTO organizations VALUES ('${uuidOf(9)}', 'late', 'Late')`,
        ])
          database.exec(`${next}; ROLLBACK TO gone`)
        database.exec('ROLLBACK')
      }
    })
  }

/** Users and organizations, each with something that refers to it. */
function openFile(t: TestContext): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  migrate(database)
  database.exec(`
    INSERT INTO users ${user(ADA, 'ada@example.com', 'ada')};
    INSERT INTO users ${user(BOB, 'bob@example.com', 'bob')};
    INSERT INTO organizations VALUES ('${GUILD}', 'guild', 'Guild'), ('${CLAN}', 'clan', 'Clan');
    INSERT INTO members VALUES ('${GUILD}', '${ADA}', 'owner', 1), ('${CLAN}', '${BOB}', 'owner', 1);
    INSERT INTO servers (id, created_by, organization_id, name, host_label, updated_at)
      VALUES ('${uuidOf(7)}', '${ADA}', '${GUILD}', 'S', 'h', 1);
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at)
      VALUES ('${uuidOf(8)}', '${ADA}', 'k', '', zeroblob(32), 1);
    INSERT INTO removed_claims VALUES (unhex('${'02'.repeat(32)}'), 1, 1, 1, 1)`)
  return database
}

const ledgerOf = (database: DatabaseSync): unknown[] =>
  database.prepare('SELECT * FROM schema_migrations').all()

function contentOf(database: DatabaseSync): unknown[] {
  const ofTables = ['rowid, * FROM users', 'rowid, * FROM organizations', '* FROM members']
  return [...ofTables, '* FROM servers', '* FROM api_keys'].flatMap((columns) =>
    database.prepare(`SELECT ${columns}`).all(),
  )
}
