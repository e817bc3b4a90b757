import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { CLAIMS, ENDED, type Kind, TABLES } from '../../src/archive/archive.ts'
import { backUpPostgres, POSTGRES_TABLES } from '../../src/archive/postgres-backup.ts'
import { backUpSqlite, CLEARED } from '../../src/archive/sqlite-backup.ts'
import { migrate } from '../../src/sqlite/migrate.ts'
import { openServer, type Server } from '../fixtures/postgres/server.ts'
import { files, filledFile, restoreFile } from './files.ts'
import {
  databaseFor,
  fill,
  query,
  type Rows,
  restore,
  rowsOfFile,
  rowsOfPostgres,
} from './postgres-rows.ts'

/*
 * A table or a column that a migration adds is in an archive, or this file says why not.
 */

let server: Server
before(async () => {
  server = await openServer()
})
after(() => server.remove())

/** What the schema of one engine has and no list of the archive, each with its reason. */
const EXCEPT = {
  sqlite: [
    'schema_migrations: an archive has a ledger of its own',
    'api_keys.serial: a number of one file',
    'revoked_hashes.number: the order of one journal',
  ],
  postgres: [
    'schema_migrations: an archive has a ledger of its own',
    'listing_revisions: a restore renews them all',
    'removed_claims: keys of the last second, which a restore waits out',
    'service_epoch: a restore renews it',
    'operator_addresses: each start writes the setting',
    'name_locks: rows to lock, with numbers alone',
    'api_keys.slot: a restore picks the place anew',
    'audit_log.xid: numbers of one server',
  ],
}

/** The columns of a schema, each with its type, without those of the exceptions and tables. */
function archived(
  found: { table: string; column: string; type: string }[],
  left: readonly string[],
  exceptions: readonly string[],
): string[] {
  const except = exceptions.map((text) => text.split(':')[0]!)
  const names = found.flatMap(({ table, column }) => [table, `${table}.${column}`])
  assert.deepEqual(
    [...except, ...left].filter((name) => !names.includes(name)),
    [],
  )
  return found
    .filter(({ table }) => !left.includes(table) && !except.includes(table))
    .filter(({ table, column }) => !except.includes(`${table}.${column}`))
    .map(({ table, column, type }) => `${table}.${column} ${type}`)
    .toSorted()
}

const columnsOf = (tables: typeof TABLES, types: Record<Kind, string>): string[] =>
  tables
    .flatMap(({ name, columns }) =>
      Object.entries(columns).map(([column, kind]) => `${name}.${column} ${types[kind]}`),
    )
    .toSorted()

test('an archive has each table and column of the schema of SQLite, or not for a reason', () => {
  const file = new DatabaseSync(':memory:')
  migrate(file)
  const found = file
    .prepare(
      `SELECT tables.name AS "table", columns.name AS "column", columns.type
       FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'`,
    )
    .all() as { table: string; column: string; type: string }[]
  file.close()
  const claims = CLAIMS.map(({ name }) => name)
  const types = {
    text: 'TEXT',
    uuid: 'TEXT',
    integer: 'INTEGER',
    instant: 'INTEGER',
    bytes: 'BLOB',
  }
  assert.deepEqual(
    archived(found, [...CLEARED, ...claims], EXCEPT.sqlite),
    columnsOf(TABLES, types),
  )
})

test('an archive has each table and column of the schema of PostgreSQL, or not for a reason', async (t) => {
  const url = await databaseFor(t, server)
  const found = await query<{ table: string; column: string; type: string }>(
    url,
    `SELECT table_name AS "table", column_name AS "column", data_type AS type
     FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`,
  )
  const types = {
    text: 'text',
    uuid: 'uuid',
    integer: 'integer',
    instant: 'timestamp with time zone',
    bytes: 'bytea',
  }
  assert.deepEqual(archived(found, ENDED, EXCEPT.postgres), columnsOf(POSTGRES_TABLES, types))
})

test('every value goes from PostgreSQL into a file with other rows, and on into a database', async (t) => {
  const [from, to] = [await databaseFor(t, server), await databaseFor(t, server)]
  const { folder, path, target } = files(t)
  await fill(from)
  const rows = await rowsOfPostgres(from)
  await backUpPostgres(from, target)
  await filledFile(path, 3)
  await restoreFile(path, target)
  assert.deepEqual(withoutRestores(rowsOfFile(path)), rows)
  await backUpSqlite(path, join(folder, 'again'))
  await restore(to, join(folder, 'again'))
  assert.deepEqual(withoutRestores(await rowsOfPostgres(to)), rows)
})

const withoutRestores = ({ audit_log: entries = [], ...rows }: Rows): Rows => ({
  ...rows,
  audit_log: entries.filter((entry) => !entry.includes('"database restored"')),
})
