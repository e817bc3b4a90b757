import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { ENDED, TABLES } from '../../src/archive/archive.ts'
import { backUpPostgres } from '../../src/archive/postgres-backup.ts'
import { MIGRATIONS } from '../../src/sqlite/migrate.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { createDatabase, removeDatabase } from '../fixtures/postgres/database.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import {
  databaseFor,
  fill,
  idOf,
  issueKeys,
  query,
  restore,
  rowsOfFile,
  rowsOfPostgres,
  rowsRestored,
} from './postgres-rows.ts'

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

const FACTS = { users: 3, servers: 2, api_keys: 3, active_api_keys: 2 }

test('rows go from PostgreSQL to an archive and to another database unchanged', async (t) => {
  const from = await databaseFor(t, server)
  const to = await createDatabase(server)
  t.after(() => removeDatabase(server, to))
  const path = join(temporaryFolder(t), 'archive')
  await fill(from)
  const startedAt = Date.now() * 1_000
  const { made_at: madeAt, ...facts } = await backUpPostgres(from, path)
  assert.deepEqual(facts, { ...FACTS, broken: [], is_partial: false })
  assert.ok(madeAt! >= startedAt && madeAt! <= Date.now() * 1_000)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const rows = await rowsOfPostgres(from)
  assert.deepEqual(await defaultsOnly(from), [], 'the test has no value in these columns')
  assert.deepEqual(rowsOfFile(path), rows)

  // A database without tables gets them.
  const archive = { ...FACTS, made_at: madeAt }
  assert.deepEqual(await restore(to, path), {
    archive,
    present: null,
    revoked: 0,
    kept: null,
    fault: null,
  })
  assert.deepEqual(await rowsRestored(to), rows)
  const [backup] = await query<{ at: string }>(
    to,
    'SELECT (extract(epoch FROM made_at) * 1000000)::bigint AS at FROM last_backup',
  )
  assert.equal(Number(backup!.at), madeAt)
})

test('an archive has the indexes and triggers of a file of the service', async (t) => {
  const url = await databaseFor(t, server)
  const path = join(temporaryFolder(t), 'archive')
  await backUpPostgres(url, path)
  const fresh = new DatabaseSync(':memory:')
  const archive = new DatabaseSync(path, { readOnly: true })
  t.after(() => {
    fresh.close()
    archive.close()
  })
  for (const { sql } of MIGRATIONS) fresh.exec(sql)
  const [expected, found] = [fresh, archive].map((database) =>
    database
      .prepare(`SELECT sql FROM sqlite_schema WHERE name <> 'schema_migrations' ORDER BY name`)
      .all(),
  )
  assert.deepEqual(found, expected)
  assert.equal(archive.prepare('PRAGMA journal_mode').get()!.journal_mode, 'delete')
})

test('a restore makes other rows equal to the archive, and keeps what it replaces', async (t) => {
  const url = await databaseFor(t, server)
  const path = join(temporaryFolder(t), 'archive')
  await fill(url)
  await query(
    url,
    `INSERT INTO organizations VALUES ('${idOf(13)}', 'other', 'Other'); ${issueKeys(1, 60, 63)}`,
  )
  await backUpPostgres(url, path)
  const rows = await rowsOfPostgres(url)
  const before = await stateOf(url)
  // Unique values change their rows, and servers and keys get an owner who has to go.
  await query(
    url,
    `UPDATE users SET email = 'x', external_id = NULL WHERE id = '${idOf(1)}';
     UPDATE users SET email = 'ada@example.com', external_id = 'site-1' WHERE id = '${idOf(2)}';
     UPDATE users SET email = 'bob@example.com' WHERE id = '${idOf(1)}';
     UPDATE organizations SET slug = 'x' WHERE slug = 'guild';
     UPDATE organizations SET slug = 'guild' WHERE slug = 'other';
     UPDATE organizations SET slug = 'other' WHERE slug = 'x';
     INSERT INTO users VALUES ('${idOf(5)}', 'late@example.com', NULL, now());
     UPDATE servers SET created_by = '${idOf(5)}', name = 'Taken';
     DELETE FROM api_keys WHERE name = 'one';
     UPDATE api_keys SET user_id = '${idOf(5)}' WHERE name = 'key 60';
     UPDATE api_keys SET name = 'changed' WHERE name = 'off'; ${issueKeys(1, 70)}
     DELETE FROM passwords; DELETE FROM audit_log; DELETE FROM usage_counts;
     UPDATE members SET role = 'member'`,
  )
  const changed = await rowsOfPostgres(url)
  const { present, kept, revoked } = await restore(url, path)
  const replaced = { users: 4, servers: 2, api_keys: 7, active_api_keys: 6 }
  assert.deepEqual([present, revoked], [replaced, 0])
  assert.deepEqual(await rowsRestored(url), rows)
  assert.deepEqual(await stateOf(url), before)
  assert.deepEqual(rowsOfFile(kept!), changed)
  await restore(url, kept!)
  assert.deepEqual(await rowsRestored(url), changed)
})

test('a restore renews each listing and the epoch, and ends sessions and links', async (t) => {
  const url = await databaseFor(t, server)
  const path = join(temporaryFolder(t), 'archive')
  await fill(url)
  await backUpPostgres(url, path)
  await query(
    url,
    `INSERT INTO users VALUES ('${idOf(5)}', 'late@example.com', NULL, now());
     INSERT INTO servers (id, created_by, name, host_label, updated_at)
       VALUES (gen_random_uuid(), '${idOf(5)}', 'late', 'a.example.com', now());
     DELETE FROM listing_revisions WHERE user_id = '${idOf(1)}'`,
  )
  const revisions = () =>
    query<{ user_id: string; revision: string }>(url, 'SELECT * FROM listing_revisions ORDER BY 1')
  const [old] = await revisions()
  assert.equal(old!.user_id, idOf(5))
  await restore(url, path)
  const renewed = await revisions()
  assert.deepEqual(
    renewed.map(({ user_id }) => user_id),
    [idOf(1), idOf(5)],
  )
  assert.notEqual(renewed[1]!.revision, old!.revision)
  const isNew = `SELECT started_at > now() - interval '1 minute' AS new FROM service_epoch`
  assert.deepEqual(await query(url, isNew), [{ new: true }])
  // PostgreSQL empties the table when it recovers from a crash.
  await query(url, 'DELETE FROM service_epoch')
  await restore(url, path)
  assert.deepEqual(await query(url, isNew), [{ new: true }])
  for (const table of ENDED) assert.deepEqual(await query(url, `SELECT FROM ${table}`), [], table)
})

/** The columns of an archive that have nothing but their default in a database. */
async function defaultsOnly(url: string): Promise<string[]> {
  const defaults = await query<{ name: string; value: string | null }>(
    url,
    `SELECT table_name || '.' || column_name AS name, column_default AS value
     FROM information_schema.columns WHERE table_schema = current_schema()`,
  )
  const defaultOf = new Map(defaults.map(({ name, value }) => [name, value]))
  const columns = TABLES.flatMap(({ name, columns }) =>
    Object.keys(columns).map((column) => [name, column]),
  )
  const selects = columns.map(
    ([table, column]) => `
      SELECT '${table}.${column}' AS name WHERE NOT EXISTS (
        SELECT FROM ${table} WHERE ${column} IS DISTINCT FROM (${defaultOf.get(`${table}.${column}`) ?? 'NULL'}))`,
  )
  return (await query<{ name: string }>(url, selects.join(' UNION ALL '))).map(({ name }) => name)
}

/** What a restore changes for a while: triggers and their modes, and tables of its own. */
function stateOf(url: string): Promise<object[]> {
  return query(
    url,
    `SELECT tgname AS name, tgenabled::text AS kind FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL SELECT relname, relpersistence::text FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace ORDER BY 1`,
  )
}
