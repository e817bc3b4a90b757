import assert from 'node:assert/strict'
import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { inspectRows } from '../../src/archive/rules/judge.ts'
import { backUpSqlite } from '../../src/archive/sqlite-backup.ts'
import { readRevocations } from '../../src/open-store.ts'
import { openFile } from '../../src/sqlite/database.ts'
import { inspectSqlite } from '../../src/sqlite/inspect.ts'
import { migrate } from '../../src/sqlite/migrate.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { migrateSqlite, openSqliteStore } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { files, restoreFile } from './files.ts'

/*
 * A database that this program must not use is refused once, where a file is opened.
 */

const WIDE = `PRAGMA encoding = 'UTF-16le'; CREATE TABLE a (a); DROP TABLE a`
const IN_UTF_16 = /^cannot use the database file .*listing\.db: it has text in UTF-16le/
const NOT_OURS =
  /^cannot use the database file .*listing\.db: it belongs to another program: it has tables, but not ours\. Name another file$/
const FOREIGN: [what: string, sentence: RegExp, make: (database: DatabaseSync) => void][] = [
  ['of another program', NOT_OURS, (database) => database.exec('CREATE TABLE theirs (a)')],
  [
    'with the ledger of another program',
    NOT_OURS,
    (database) => database.exec('CREATE TABLE schema_migrations (version TEXT)'),
  ],
  ['in UTF-16 without tables', IN_UTF_16, (database) => database.exec(WIDE)],
  [
    'in UTF-16 with our tables',
    IN_UTF_16,
    (database) => {
      database.exec(WIDE)
      migrate(database)
    },
  ],
]

for (const [what, message, make] of FOREIGN)
  test(`a database ${what} is refused by all that open it, and stays the same to the byte`, async (t) => {
    const { folder, path, target, backUp, restore } = files(t)
    const database = new DatabaseSync(path)
    make(database)
    database.close()
    const archive = join(temporaryFolder(t), 'archive')
    await migrateSqlite(`${archive}.db`)
    await backUpSqlite(`${archive}.db`, archive)
    const before = readFileSync(path)
    const refused = { name: 'NotConfigured', message }
    await assert.rejects(openServingSqliteStore(path), refused)
    for (const create of [true, false])
      await assert.rejects(openSqliteStore(path, { create }), refused)
    await assert.rejects(migrateSqlite(path), refused)
    await assert.rejects(backUp(), refused)
    await assert.rejects(restore([], archive), refused)
    const said = { name: 'NotRestored', message: /: it (has text in UTF-16le|belongs to another)/ }
    await assert.rejects(restoreFile(target, path), said)
    await assert.rejects(readRevocations([path], createReadStream), said)
    const [finding] = inspectSqlite(path, inspectRows)
    assert.equal(finding?.state, 'problem')
    assert.match(finding.found, message)
    assert.deepEqual(readFileSync(path), before)
    assert.deepEqual(
      readdirSync(folder).filter((name) => !name.endsWith('-serving')),
      ['listing.db'],
    )
  })

test('the message about UTF-16 has the way to UTF-8', (t) => {
  const { path } = files(t)
  const database = new DatabaseSync(path)
  database.exec(WIDE)
  database.close()
  assert.throws(() => openFile(path, false), {
    message:
      `cannot use the database file ${path}: it has text in UTF-16le, and this program needs UTF-8. ` +
      '`sqlite3 OLD .dump | sqlite3 NEW` makes a file in UTF-8',
  })
})
