import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

/** All rows of all tables, by the table's name, each row as JSON. */
export type Dump = Map<string, string[]>

/** What is in a database, seen and put back past everything that is tested. */
export interface Tables {
  dump(): Promise<Dump>
  /** Remembers what is there now. */
  remember(): Promise<void>
  /** Puts back what was remembered. */
  restore(): Promise<void>
  close(): Promise<void>
}

export function sqliteTables(path: string): Tables {
  const database = new DatabaseSync(path, { timeout: 1_000, enableForeignKeyConstraints: false })
  database.exec('PRAGMA synchronous = OFF')
  const names = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .all()
    .map(({ name }) => String(name))
  const selects = names.map((name) => [name, database.prepare(`SELECT * FROM "${name}"`)] as const)
  return {
    async dump() {
      return new Map(selects.map(([name, select]) => [name, select.all().map(toText).toSorted()]))
    },

    async remember() {
      database.exec(`ATTACH ':memory:' AS remembered`)
      for (const name of names)
        database.exec(`CREATE TABLE remembered."_${name}" AS SELECT * FROM main."${name}"`)
    },

    async restore() {
      const copies = names.map(
        (name) =>
          `DELETE FROM main."${name}"; INSERT INTO main."${name}" SELECT * FROM remembered."_${name}";`,
      )
      database.exec(`BEGIN IMMEDIATE; ${copies.join(' ')} COMMIT`)
    },

    async close() {
      database.close()
    },
  }
}

function toText(row: object): string {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value,
  ])
  return JSON.stringify(Object.fromEntries(entries))
}

export async function postgresTables(url: string): Promise<Tables> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
  )
  const names = rows.map(({ name }) => String(name)).toSorted(lastWritten)
  const dumps = names.map(
    (name) =>
      `SELECT '${name}' AS name, coalesce(array_agg(to_jsonb(t)::text ORDER BY to_jsonb(t)::text), '{}') AS rows FROM "${name}" AS t`,
  )
  const copies = names.map(
    (name) => `DELETE FROM "${name}"; INSERT INTO "${name}" SELECT * FROM remembered."${name}";`,
  )
  return {
    async dump() {
      if (dumps.length === 0) return new Map()
      const found = await client.query<{ name: string; rows: string[] }>(dumps.join(' UNION ALL '))
      return new Map(found.rows.map(({ name, rows }) => [name, rows]))
    },

    async remember() {
      const made = names.map((name) => `CREATE TABLE remembered."${name}" AS TABLE "${name}";`)
      await client.query(`CREATE SCHEMA remembered; ${made.join(' ')}`)
    },

    async restore() {
      // Without foreign keys and most triggers.
      await client.query(
        `BEGIN; SET LOCAL session_replication_role = replica; ${copies.join(' ')} COMMIT`,
      )
    },

    close: () => client.end(),
  }
}

/** The table that triggers write to, whatever is put back, is put back last. */
function lastWritten(a: string, b: string): number {
  return Number(a === 'listing_revisions') - Number(b === 'listing_revisions')
}
