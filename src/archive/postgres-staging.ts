import type { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import { INSTANT_MAX } from '../listing/instant.ts'
import type { Revocations } from '../listing/accounts/revocations.ts'
import { type ArchiveTable, type Kind, NotRestored, TABLES } from './archive.ts'
import { USES } from './sqlite-backup.ts'

/** Rows in one statement: the event loop runs between two of them. */
const BATCH = 500

/** A table with the archive's rows of one of our tables, or what becomes of these rows. */
export const staged = (name: string): string => `restoring_${name}`
/** The keys as the archive has them. */
export const LOADED_KEYS = 'restoring_loaded_keys'

/**
 * Loads the archive's rows beside our tables, into tables of our schema that the transaction makes.
 * Other sessions go on meanwhile.
 */
export async function loadStaging(
  client: pg.ClientBase,
  file: DatabaseSync,
  lists: readonly Revocations[],
): Promise<void> {
  for (const table of TABLES) await loadTable(client, file, table)
  for (const list of lists) await send(client, insertInto(REVOKED), batchesOf(hashesOf(list)))
}

const REVOKED = TABLES.find(({ name }) => name === 'revoked_hashes')!

async function loadTable(
  client: pg.ClientBase,
  file: DatabaseSync,
  table: ArchiveTable,
): Promise<void> {
  const { name, columns } = withLastUse(table)
  const into = targetOf(name)
  await client.query(
    `CREATE UNLOGGED TABLE ${into} AS SELECT ${Object.keys(columns).join(', ')} FROM ${name} WITH NO DATA`,
  )
  const rows = file.prepare(selectFrom(table)).iterate()
  const loaded = await send(client, insertInto(table), batchesOf(rows))
  const expected = Number(file.prepare(`SELECT count(*) AS count FROM ${name}`).get()!.count)
  if (loaded !== expected)
    throw new NotRestored(`of ${expected} rows of the table ${name}, ${loaded} were loaded`)
  await client.query(`ANALYZE ${into}`)
}

const targetOf = (name: string): string => (name === 'api_keys' ? LOADED_KEYS : staged(name))

function withLastUse({ name, columns, key }: ArchiveTable): ArchiveTable {
  return name === 'api_keys'
    ? { name, columns: { ...columns, last_used_at: 'instant' }, key }
    : { name, columns, key }
}

function selectFrom({ name, columns }: ArchiveTable): string {
  const selected = Object.entries(columns).map(
    ([column, kind]) => `${readAs(`${name}.${column}`, kind)} AS ${column}`,
  )
  if (name !== 'api_keys') return `SELECT ${selected.join(', ')} FROM ${name}`
  selected.push(`${readAs('last.used_at', 'instant')} AS last_used_at`)
  return `SELECT ${selected.join(', ')} FROM api_keys LEFT JOIN (
    SELECT api_key, max(used_at) AS used_at FROM (${USES}) GROUP BY api_key
  ) AS last ON api_key = serial`
}

/** SQL of SQLite for a value that JSON can hold. */
function readAs(value: string, kind: Kind): string {
  if (kind === 'bytes') return `lower(hex(${value}))`
  return kind === 'instant' ? `max(${-INSTANT_MAX}, min(${value}, ${INSTANT_MAX}))` : value
}

const JSON_TYPES: Readonly<Record<Kind, string>> = {
  text: 'text',
  uuid: 'uuid',
  number: 'bigint',
  instant: 'bigint',
  bytes: 'text',
}

function insertInto(table: ArchiveTable): string {
  const columns = Object.entries(withLastUse(table).columns)
  const typed = columns.map(([column, kind]) => `${column} ${JSON_TYPES[kind]}`)
  const values = columns.map(([column, kind]) => writtenAs(column, kind))
  return `INSERT INTO ${targetOf(table.name)} (${columns.map(([column]) => column).join(', ')})
    SELECT ${values.join(', ')} FROM json_to_recordset($1::json) AS given (${typed.join(', ')})`
}

/** SQL of PostgreSQL for a value that came as JSON. */
function writtenAs(value: string, kind: Kind): string {
  if (kind === 'bytes') return `decode(${value}, 'hex')`
  // Intervals multiply in floating point, which holds all seconds but not all microseconds.
  return kind === 'instant'
    ? `timestamptz 'epoch' + ${value} / 1000000 * interval '1 second' + ${value} % 1000000 * interval '1 microsecond'`
    : value
}

function* hashesOf(list: Revocations): Generator<object> {
  for (const [key_hash, revoked_at] of list) yield { key_hash, revoked_at }
}

function* batchesOf(rows: Iterable<object>): Generator<string> {
  let batch: object[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < BATCH) continue
    yield JSON.stringify(batch)
    batch = []
  }
  if (batch.length > 0) yield JSON.stringify(batch)
}

/** Reads the next batch while the server takes this one. Returns the number of rows. */
async function send(
  client: pg.ClientBase,
  text: string,
  batches: Iterable<string>,
): Promise<number> {
  let count = 0
  let sent: Promise<pg.QueryResult> | null = null
  const arrive = async () => {
    count += (await sent)?.rowCount ?? 0
  }
  try {
    for (const batch of batches) {
      await arrive()
      sent = client.query(text, [batch])
    }
    await arrive()
  } finally {
    // Reading the next batch may have failed meanwhile.
    await sent?.catch(() => {})
  }
  return count
}
