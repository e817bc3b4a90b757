import type pg from 'pg'

/** The rows of each table in the JSON of PostgreSQL. */
export type Rows = Record<string, object[]>

/** Reads the rows of all tables, those of `schema_migrations`, too. */
export async function readRows(client: pg.Client): Promise<Rows> {
  await client.query(`SET timezone = 'UTC'`)
  const rows: Rows = {}
  for (const name of await tablesOf(client)) {
    const read = `SELECT coalesce(json_agg(each), '[]') AS rows FROM "${name}" AS each`
    rows[name] = (await client.query(read)).rows[0].rows
  }
  return rows
}

/** Replaces the rows of all tables, as a restored dump does: no trigger and no reference acts. */
export async function writeRows(client: pg.Client, rows: Rows): Promise<void> {
  await client.query('BEGIN')
  await client.query('SET LOCAL session_replication_role = replica')
  for (const name of await tablesOf(client)) await client.query(`DELETE FROM "${name}"`)
  for (const [name, all] of Object.entries(rows))
    await client.query(
      `INSERT INTO "${name}" SELECT * FROM json_populate_recordset(NULL::"${name}", $1)`,
      [JSON.stringify(all)],
    )
  await client.query('COMMIT')
}

async function tablesOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
  )
  return rows.map(({ name }) => name)
}
