import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { openArchive } from '../../src/archive/open.ts'
import { inspectRows } from '../../src/archive/rules/judge.ts'
import { MIGRATIONS } from '../../src/sqlite/migrate.ts'
import { runCommand } from '../cli/command.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { migrateFurther, withLater } from '../fixtures/later.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { change, filledFile, files, idOf, rows, rowsOf } from './files.ts'
import { databaseFor, fill, rowsOfPostgres } from './postgres-rows.ts'

/*
 * After a way back, this program works with the schema of a newer one. A migration says which
 * programs can do that, and so can read archives of the schema.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const ADDED = 'ALTER TABLE users ADD COLUMN motto TEXT; UPDATE users SET motto = email;'
/** One is another trigger than ours of its name. What `backup` writes must not fire the last. */
const TRIGGER = `
  CREATE TABLE notes (text TEXT);
  INSERT INTO notes VALUES ('kept');
  DROP TRIGGER users_added;
  CREATE TRIGGER users_added AFTER INSERT ON users BEGIN INSERT INTO notes VALUES ('added'); END;
  CREATE TRIGGER last_backup_noted AFTER INSERT ON last_backup
    BEGIN INSERT INTO notes VALUES ('fired'); END;`
const WARNING =
  /warning: \S+ has the schema of a newer server-listing: what only that version knows is not restored\n/

async function restoreInto(url: string, from: string) {
  const { code, stderr } = await runCommand(['restore', '--yes', from], {
    env: { DATABASE_URL: url },
  })
  return { code, stderr }
}

test('an archive of a newer schema that this program can work with restores', async (t) => {
  const { folder, path, target, backUp } = files(t)
  await filledFile(path, 2)
  await migrateFurther({ engine: 'sqlite', path }, ADDED + TRIGGER)
  change(path, `UPDATE api_keys SET revoked_at = 1 WHERE id = '${idOf(1)}'`)
  await backUp()

  const restored = join(folder, 'restored.db')
  const { code, stderr } = await restoreInto(`sqlite:${restored}`, target)
  assert.equal(code, 0, stderr)
  assert.match(stderr, WARNING)
  for (const table of ['users', 'servers', 'api_keys', 'revoked_hashes']) {
    const columns = rows(restored, `SELECT name FROM pragma_table_info('${table}')`).join(', ')
    const select = `SELECT ${columns} FROM ${table} ORDER BY 1`
    assert.deepEqual(rows(restored, select), rows(path, select), table)
  }
  const count = rows(restored, 'SELECT count(*) FROM schema_migrations')
  assert.deepEqual(count, [[MIGRATIONS.length]])

  const schema = rows(path, 'SELECT name, sql FROM sqlite_schema ORDER BY 1')
  const inPlace = await restoreInto(`sqlite:${path}`, target)
  assert.equal(inPlace.code, 1)
  assert.equal(
    inPlace.stderr.replace(WARNING, ''),
    `error: cannot restore into ${path}: it has the schema of a newer server-listing. Restore into a new database\n`,
  )
  assert.deepEqual(rows(path, 'SELECT name, sql FROM sqlite_schema ORDER BY 1'), schema)
  const file = new DatabaseSync(path, { readOnly: true })
  const triggers = inspectRows(file).find(({ check }) => check === 'triggers')
  file.close()
  assert.equal(triggers?.state, 'ok')

  const url = await databaseFor(t, server)
  const onPostgres = await restoreInto(url, target)
  assert.equal(onPostgres.code, 0, onPostgres.stderr)
  assert.match(onPostgres.stderr, WARNING)
  assert.equal((await rowsOfPostgres(url)).api_keys!.length, 2)
})

test('an archive that this program makes of a newer schema has all of it', async (t) => {
  const { path, target, backUp } = files(t)
  await filledFile(path, 2)
  await migrateFurther({ engine: 'sqlite', path }, ADDED + TRIGGER)
  await backUp()
  const opened = await openArchive(target, withLater(MIGRATIONS, ADDED + TRIGGER))
  t.after(() => opened.close())
  assert.equal(opened.isNewer, false)
  const read = (sql: string) => opened.database.prepare(sql).all().map(Object.values)
  assert.deepEqual(read('SELECT motto FROM users ORDER BY 1'), [
    ['u1@example.com'],
    ['u2@example.com'],
  ])
  assert.deepEqual(read('SELECT text FROM notes'), [['kept']])
  const schema = `SELECT type, name, sql FROM sqlite_schema ORDER BY name`
  assert.deepEqual(read(schema), rows(path, schema))
})

test('this program and the newer one restore each other on PostgreSQL', async (t) => {
  const url = await databaseFor(t, server)
  await fill(url)
  await migrateFurther({ engine: 'postgres', url }, ADDED)
  const { audit_log: _, ...before } = await rowsOfPostgres(url)
  const target = join(temporaryFolder(t), 'archive')
  const backedUp = await runCommand(['backup', target], { env: { DATABASE_URL: url } })
  assert.equal(backedUp.code, 0, backedUp.stderr)
  assert.match(backedUp.stderr, /warning: .*: what only that version knows is not in the archive\n/)
  const { code, stderr } = await restoreInto(url, target)
  assert.equal(code, 0, stderr)
  const { audit_log: _restored, ...present } = await rowsOfPostgres(url)
  assert.deepEqual(present, before)
  const opened = await openArchive(target, withLater(MIGRATIONS, ADDED + TRIGGER))
  t.after(() => opened.close())
  assert.equal(opened.database.prepare('SELECT count(motto) AS n FROM users').get()!.n, 2)
})

test('an archive that needs a newer program is refused, and nothing changes', async (t) => {
  const { folder, path, target, backUp } = files(t)
  await filledFile(path, 1)
  await backUp()
  await migrateFurther({ engine: 'sqlite', path: target }, ADDED, 'breaking')
  const present = join(folder, 'present.db')
  await filledFile(present, 3)
  const known = MIGRATIONS.length
  const reason = `needs a newer server-listing: its schema needs migration ${known + 1}, this program knows ${known}\n`
  const bytes = readFileSync(target)
  const refuse = async (url: string) => {
    const { code, stderr } = await restoreInto(url, target)
    assert.equal(code, 1)
    assert.equal(stderr, `error: cannot restore ${target}: the database ${reason}`)
    assert.deepEqual(readFileSync(target), bytes)
  }
  const rowsBefore = rowsOf(present)
  await refuse(`sqlite:${present}`)
  assert.deepEqual(rowsOf(present), rowsBefore)
  const url = await databaseFor(t, server)
  await fill(url)
  const onPostgres = await rowsOfPostgres(url)
  await refuse(url)
  assert.deepEqual(await rowsOfPostgres(url), onPostgres)
  const list = await runCommand(['restore', '--revocations', target], {
    env: { DATABASE_URL: `sqlite:${present}` },
  })
  assert.equal(list.code, 1)
  assert.ok(list.stderr.includes(reason), list.stderr)
})
