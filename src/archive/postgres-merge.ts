import type { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import { jsonOf, typesOf } from '../postgres/management-connection.ts'
import { type ArchiveTable, ENDED } from './archive.ts'
import { POSTGRES_TABLES, type Row, rowsOf, selectFrom } from './postgres-backup.ts'
import {
  assertEqual,
  changedRows,
  countIn,
  deleteRows,
  findDifference,
  FREED,
  freeRows,
  missingRows,
  writeRows,
} from './unite.ts'

/** Rows in one statement: the event loop runs between two of them. */
const BATCH = 500

/*
 * These functions take a connection to an SQLite file with the present rows, on which the rows of a
 * restore are planned.
 */

/** Makes our tables as they are planned. Needs the lock, and no trigger of ours. */
export async function mergeRows(client: pg.ClientBase, planned: DatabaseSync): Promise<void> {
  for (const name of ENDED) await client.query(`DELETE FROM ${name}`)
  for (const table of POSTGRES_TABLES.toReversed())
    await send(client, planned, missingRows(table), table, (given) => deleteRows(table, given))
  for (const table of POSTGRES_TABLES) {
    const { name, columns } = table
    planned.exec(`CREATE TEMP TABLE changed AS ${changedRows(table)}`)
    const freed = name === 'api_keys' ? 'revoked_at = now(), slot = NULL' : FREED[name]
    if (freed !== undefined)
      await send(client, planned, CHANGED, table, (given) => freeRows(table, freed, given))
    const names = Object.keys(columns)
    await send(client, planned, CHANGED, table, (given) =>
      name === 'api_keys'
        ? writeRows(table, [...names, 'slot'], withSlots(given))
        : writeRows(table, names, given),
    )
    planned.exec('DROP TABLE temp.changed')
  }
}

const CHANGED = 'SELECT * FROM temp.changed'

/** An active key gets a place that none of its user's keys has. */
const withSlots = (given: string): string => `(
  SELECT *, CASE WHEN revoked_at IS NULL THEN (ARRAY(
    SELECT free::smallint FROM generate_series(1, 5) AS free
    WHERE NOT EXISTS (
      SELECT FROM api_keys AS ours
      WHERE ours.user_id = placed.user_id AND ours.slot = free AND ours.revoked_at IS NULL
    )
    ORDER BY free
  ))[place] END AS slot
  FROM (
    SELECT *, (row_number() OVER (PARTITION BY user_id, revoked_at IS NULL))::int AS place FROM ${given}
  ) AS placed
) AS given`

/** Reads the next batch while the server takes this one. */
async function send(
  client: pg.ClientBase,
  planned: DatabaseSync,
  select: string,
  { columns }: ArchiveTable,
  statement: (given: string) => string,
): Promise<void> {
  const text = statement(`json_to_recordset($1::json) AS given (${typesOf(columns)})`)
  let sent: Promise<unknown> = Promise.resolve()
  for (const rows of batchesOf(planned.prepare(select).iterate())) {
    const json = jsonOf(columns, rows)
    await sent
    sent = client.query(text, [json])
    // Reading the next batch may fail first.
    sent.catch(() => {})
  }
  await sent
}

function* batchesOf(rows: Iterable<object>): Generator<object[]> {
  let batch: object[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Throws NotRestored if a table differs. Equal numbers and no strange row are equal tables. */
export async function compareRows(client: pg.ClientBase, planned: DatabaseSync): Promise<void> {
  for (const table of POSTGRES_TABLES) {
    const { name, key, columns } = table
    const names = Object.keys(columns)
    const isSame = names.map((one) => `${one} ${key.includes(one) ? '=' : 'IS'} ?`)
    const find = planned.prepare(`SELECT 1 FROM temp.wanted_${name} WHERE ${isSame.join(' AND ')}`)
    let found = 0
    let first: Row | undefined
    for await (const rows of rowsOf(client, selectFrom(table)))
      for (const row of rows) {
        found += 1
        if (first === undefined && find.get(...row) === undefined) first = row
      }
    const wanted = `temp.wanted_${name}`
    const row = first && Object.fromEntries(names.map((one, index) => [one, first[index]!]))
    const difference = row && findDifference(planned, wanted, table, row)
    assertEqual(table, found, countIn(planned, wanted), difference)
  }
}

/**
 * No process may answer with a listing or a last use from before. For a second from now, every
 * process rejects all claims.
 */
export async function renewCaches(client: pg.ClientBase): Promise<void> {
  await client.query(`
    INSERT INTO listing_revisions (user_id, revision)
    SELECT owner, gen_random_uuid() FROM (
      SELECT created_by FROM servers UNION SELECT user_id FROM listing_revisions
    ) AS known (owner)
    ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision`)
  await client.query(`
    INSERT INTO service_epoch VALUES (true, clock_timestamp())
    ON CONFLICT (only_row) DO UPDATE SET started_at = excluded.started_at`)
}
