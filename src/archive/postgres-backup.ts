import { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import { presentInstant } from '../model/instant.ts'
import { openDatabase } from '../postgres/database.ts'
import { instantOf, TYPES } from '../postgres/management-connection.ts'
import { assertUpToDate, countApplied, MIGRATIONS } from '../postgres/migrate.ts'
import { ENDLESS } from '../postgres/patience.ts'
import { unreachableServer, unusable } from '../postgres/refusals.ts'
import { migrate } from '../sqlite/migrate.ts'
import { type ArchiveTable, type BackedUp, TABLES } from './archive.ts'
import { dropParts, readSchema } from './foreign.ts'
import { writeArchive } from './write.ts'

/** Rows in one FETCH: the event loop runs between two of them. */
const BATCH = 500
const CACHE_KIB = 8_192

/**
 * Writes an archive of a database while processes serve it. Throws NotConfigured or NotBackedUp.
 */
export async function backUpPostgres(url: string, target: string): Promise<BackedUp> {
  const database = openDatabase(url, ENDLESS)
  try {
    await assertUpToDate(database)
    const facts = await writeArchive(target, (partial) =>
      database.transact(async (client) => {
        await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
        await withoutTimeouts(client)
        await fillFromPostgres(client, partial)
      }),
    )
    return { ...facts, is_partial: (await countApplied(database)) > MIGRATIONS.length }
  } catch (error) {
    throw unusable(error) ?? unreachableServer(error) ?? error
  } finally {
    await database.close()
  }
}

/** A role, a database or our own session may limit what takes as long as it needs. */
export async function withoutTimeouts(client: pg.ClientBase): Promise<void> {
  await client.query(
    `SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN (
       'statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`,
  )
}

/**
 * Makes an empty file an archive of the database. The transaction must see one state of all tables,
 * by its snapshot or its locks.
 */
export async function fillFromPostgres(client: pg.ClientBase, partial: string): Promise<void> {
  const madeAt = presentInstant()
  const file = new DatabaseSync(partial, { enableForeignKeyConstraints: false })
  try {
    // The file is synced when it is whole, and thrown away if it never is. It gets each row, also
    // one that breaks a rule.
    file.exec(`
      PRAGMA journal_mode = OFF;
      PRAGMA synchronous = OFF;
      PRAGMA ignore_check_constraints = ON;
      PRAGMA cache_size = -${CACHE_KIB}`)
    migrate(file)
    // An index that is made of all rows takes a fraction of the time.
    const completeSchema = dropParts(
      file,
      readSchema(file).filter(({ type }) => type !== 'table' && type !== 'view'),
    )
    file.exec('BEGIN')
    for (const table of POSTGRES_TABLES) await copyTable(client, file, table)
    file.prepare('INSERT OR REPLACE INTO last_backup VALUES (1, ?)').run(madeAt)
    file.exec('COMMIT')
    completeSchema()
  } finally {
    file.close()
  }
}

async function copyTable(
  client: pg.ClientBase,
  file: DatabaseSync,
  table: ArchiveTable,
): Promise<void> {
  const { name, columns } = table
  const names = Object.keys(columns).filter((column) => column !== LAST_USE)
  const insert = file.prepare(
    `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  )
  const insertUse = file.prepare('INSERT INTO older_claims (api_key, claimed_at) VALUES (?, ?)')
  for await (const rows of rowsOf(client, selectFrom(table)))
    for (const row of rows) {
      const { lastInsertRowid } = insert.run(...row.slice(0, names.length))
      const lastUse = row[names.length] ?? null
      if (lastUse !== null) insertUse.run(lastInsertRowid, lastUse)
    }
}

const LAST_USE = 'last_used_at'

/** The archive's tables as PostgreSQL has them: with the last use of a key in its row. */
export const POSTGRES_TABLES: readonly ArchiveTable[] = TABLES.map((table) =>
  table.name === 'api_keys'
    ? { ...table, columns: { ...table.columns, [LAST_USE]: 'instant' } }
    : table,
)

/** The rows of a table, with values that SQLite stores. */
export function selectFrom({ name, columns }: ArchiveTable): string {
  const selected = Object.entries(columns).map(([column, kind]) =>
    kind === 'instant' ? instantOf(column) : column,
  )
  return `SELECT ${selected.join(', ')} FROM ${name}`
}

/** The values of a row, as SQLite stores them. */
export type Row = (string | number | Buffer | null)[]

/** The server reads the next rows while the caller takes these. Needs a transaction. */
export async function* rowsOf(client: pg.ClientBase, select: string): AsyncGenerator<Row[]> {
  await client.query(`DECLARE archived NO SCROLL CURSOR FOR ${select}`)
  const text = `FETCH ${BATCH} FROM archived`
  const fetch = () => client.query<Row>({ text, rowMode: 'array', types: TYPES })
  let next = fetch()
  try {
    for (;;) {
      const { rows } = await next
      if (rows.length === 0) break
      next = fetch()
      yield rows
    }
  } finally {
    // The caller may have failed meanwhile.
    await next.catch(() => {})
  }
  await client.query('CLOSE archived')
}
