import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { TABLES } from '../../src/archive/archive.ts'
import { assertRestored } from '../../src/archive/unite.ts'
import { migrate, MIGRATIONS } from '../../src/sqlite/migrate.ts'
import { change, filledFile, files, idOf, rows, userSql } from './files.ts'

test('a row that an index of another program refuses changes nothing, and nothing is kept', async (t) => {
  const { path, target, backUp, content, restore } = files(t)
  await filledFile(path, 2)
  await backUp()
  change(path, 'DELETE FROM servers; CREATE UNIQUE INDEX shop ON servers (name)')
  const before = content()
  await assert.rejects(restore(), {
    name: 'NotRestored',
    message: /nothing was restored: .* refuses a row of the archive: UNIQUE .* servers\.name/,
  })
  assert.deepEqual(content(), before)
  assert.ok(existsSync(target))
})

test('what is present beside the archive does not stand in the way of a restore', async (t) => {
  const { path, backUp, restore } = files(t)
  await filledFile(path, 2)
  change(path, 'INSERT INTO older_claims VALUES (1, 100)')
  await backUp()
  change(
    path,
    'UPDATE older_claims SET claimed_at = 200; INSERT INTO older_claims VALUES (2, 300)',
    // No key has a hash of this length.
    `PRAGMA ignore_check_constraints = ON; INSERT INTO revoked_hashes VALUES (9, X'0A', 1)`,
  )
  await restore()
  assert.deepEqual(rows(path, 'SELECT * FROM older_claims'), [
    [1, 200],
    [2, 300],
  ])
  assert.deepEqual(rows(path, 'SELECT * FROM revoked_hashes'), [])
})

test('a restore checks the tables at its end, and names a row that the file did not keep', async (t) => {
  const { path, backUp, content, restore } = files(t)
  await filledFile(path, 2)
  change(path, `INSERT INTO passwords VALUES ('${idOf(1)}', 'same'), ('${idOf(2)}', 'same')`)
  await backUp()
  change(
    path,
    `DROP TABLE passwords;
     CREATE TABLE passwords (user_id TEXT PRIMARY KEY, hash TEXT UNIQUE ON CONFLICT IGNORE)`,
  )
  const before = content()
  await assert.rejects(restore(), {
    name: 'NotRestored',
    message:
      'nothing was restored: the table passwords has 1 rows instead of 2, and the row ' +
      `${idOf(2)} is on one side only`,
  })
  assert.deepEqual(content(), before)
})

test('a table that differs from what it must be is refused with the row and the columns', (t) => {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  const table = TABLES.find(({ name }) => name === 'passwords')!
  const check = (present: string) => () => {
    database.exec(`DELETE FROM passwords; INSERT INTO passwords VALUES ${present}`)
    assertRestored(database, table)
  }
  database.exec(`CREATE TABLE passwords (user_id, hash);
    CREATE TEMP TABLE wanted_passwords AS SELECT 'a' AS user_id, 'x' AS hash UNION SELECT 'b' || char(10), 'y'`)
  const b = `'b' || char(10)`
  check(`('a', 'x'), (${b}, 'y')`)()
  const differs = differenceOf(2, String.raw`, and the row b\u{a} differs in hash`)
  assert.throws(check(`('a', 'x'), (${b}, 'z')`), { message: differs })
  const missing = differenceOf(1, String.raw`, and the row b\u{a} is on one side only`)
  assert.throws(check(`('a', 'x')`), { message: missing })
  assert.throws(check(`('a', 'x'), (${b}, 'y'), ('c', 'z')`), { message: differenceOf(3, '') })
})

const differenceOf = (rows: number, rest: string): string =>
  `nothing was restored: the table passwords has ${rows} rows instead of 2${rest}`

test('an archive of 0.1.0, which knows no ban, takes none back', async (t) => {
  const { folder, path, restore } = files(t)
  await filledFile(path, 2)
  change(path, `UPDATE users SET banned_at = 7 WHERE id = '${idOf(2)}'`)
  const archive = join(folder, 'archive.db')
  const older = new DatabaseSync(archive)
  migrate(older, MIGRATIONS.slice(0, 1))
  older.exec(`${userSql(1)} ${userSql(2)} ${userSql(3)}
    UPDATE users SET disabled_at = 5 WHERE id = '${idOf(3)}'`)
  older.close()
  await restore([], archive)
  const query = 'SELECT disabled_at, banned_at FROM users ORDER BY id'
  assert.deepEqual(rows(path, query), [
    [null, null],
    [null, 7],
    [5, null],
  ])
  const keys = 'SELECT disabled_at FROM api_keys ORDER BY id'
  assert.deepEqual(rows(path, keys), [[null], [7], [5]])
})
