import type { ClientBase } from 'pg'
import { NotConfigured } from '../model/faults.ts'
import {
  countMigrations,
  failedMigration,
  LEDGER,
  type LedgerRow,
  type Migration,
  outdatedSchema,
  readMigrations,
} from '../database/migrations.ts'
import type { Database } from './database.ts'
import { assertNoForeignRights, withoutDefaultRights } from './grants.ts'
import { unusable } from './refusals.ts'

/** The migrations of this program, in order. */
export const MIGRATIONS = readMigrations(new URL('./migrations/', import.meta.url))

/** The advisory lock of migrations. No other known program uses this number. */
const LOCK = 7_318_349_122

/**
 * Brings the schema to this program's newest migration and returns the names of the applied ones.
 * Each file is one transaction with its row in the ledger. The advisory lock serializes concurrent
 * runs. Throws NotConfigured and changes nothing if this program can't work with the schema, or if
 * another role has a right on its tables.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  const applied: string[] = []
  while (await database.transact((client) => applyNext(client, migrations, applied))) {}
  return applied
}

/** Whether there is nothing to migrate; only reads. Throws what `migrate` throws. */
export async function isUpToDate(database: Database): Promise<boolean> {
  return (await countApplied(database)) >= MIGRATIONS.length
}

/** The number of this program's migrations that the database has. Throws what `migrate` throws. */
export async function countApplied(database: Database): Promise<number> {
  return database.transact((client) => readLedger(client, MIGRATIONS))
}

/** Throws NotConfigured if the schema lacks a migration of this program; only reads. */
export async function assertUpToDate(database: Database): Promise<void> {
  const present = await countApplied(database)
  if (present < MIGRATIONS.length)
    throw outdatedSchema('the database of DATABASE_URL', present, MIGRATIONS.length)
}

/** Applies the first migration that the ledger lacks; false if there is none. */
async function applyNext(
  client: ClientBase,
  migrations: readonly Migration[],
  applied: string[],
): Promise<boolean> {
  // Only read an up-to-date schema, so that a starting service waits for no lock.
  const next = migrations[await readLedger(client, migrations)]
  if (next === undefined) return false
  await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
  const present = await readLedger(client, migrations)
  if (present !== next.number - 1) return true
  await assertNoForeignRights(client)
  await withoutDefaultRights(client, async () => {
    if (present === 0)
      await client.query(`
        CREATE TABLE schema_migrations (
          number integer PRIMARY KEY,
          name text NOT NULL,
          program_min integer NOT NULL,
          applied_at timestamptz NOT NULL
        )
      `)
    await client.query(next.sql).catch((error) => {
      throw unusable(error) ?? failedMigration(next, error, LASTING.test(error.code))
    })
    await client.query('INSERT INTO schema_migrations VALUES ($1, $2, $3, now())', [
      next.number,
      next.name,
      next.programMin,
    ])
  })
  applied.push(next.name)
  return true
}

/** Classes of errors that come from the schema or a row: the migration would fail again. */
const LASTING = /^(0A|22|23|2B|42|P0)/

/** The number of these migrations that the database has. */
async function readLedger(client: ClientBase, migrations: readonly Migration[]): Promise<number> {
  // Other programs have a table of the ledger's name, too, with other columns.
  const { rows: schema } = await client.query(
    `SELECT sum((relname = 'schema_migrations' AND attname IS NOT NULL)::int) = 3 AS "isOurs"
     FROM pg_class LEFT JOIN pg_attribute
       ON attrelid = pg_class.oid AND attname IN ('number', 'name', 'program_min')
     WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind IN ('r', 'p')`,
  )
  const { isOurs } = schema[0]
  if (isOurs === null) return 0
  if (!isOurs)
    throw new NotConfigured(
      'the database belongs to another program: it has tables, but not ours. Give the service a ' +
        'database of its own, or a schema of its own as the first one of the search_path',
    )
  const { rows } = await client.query<LedgerRow>(LEDGER)
  return countMigrations(rows, migrations)
}
