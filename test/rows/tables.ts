import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { DatabaseConfig } from '../../src/config/database-url.ts'

export type Value = string | number | null
export type Row = Record<string, Value>
/** The rows of every table and view of a database, by name. */
export type Tables = Record<string, Row[]>

/** A connection beside the program's own. */
export interface Reader {
  read(): Promise<Tables>
  execute(sql: string): Promise<void>
  close(): Promise<void>
}

/**
 * Reads a database in the same form on both engines: instants in microseconds, bytes in hex.
 * `schema` is ours on PostgreSQL.
 */
export async function openReader(database: DatabaseConfig, schema = 'public'): Promise<Reader> {
  if (database.engine === 'postgres') return openPostgres(database.url, schema)
  if (database.engine === 'sqlite') return openSqlite(database.path)
  throw new Error(database.problem)
}

function openSqlite(path: string): Reader {
  let file: DatabaseSync | null = null
  let inode: number | null = null
  let last: { version: unknown; tables: Tables } | null = null

  /** A restore may replace the file. */
  function opened(): DatabaseSync {
    const { ino } = statSync(path)
    if (file !== null && ino === inode) return file
    file?.close()
    inode = ino
    last = null
    file = new DatabaseSync(path)
    return file
  }

  return {
    async read() {
      if (!existsSync(path)) return {}
      const database = opened()
      // It changes with each commit of another connection.
      const version = database.prepare('PRAGMA data_version').get()?.data_version
      if (last === null || last.version !== version) last = { version, tables: tablesOf(database) }
      return last.tables
    },
    async execute(sql) {
      opened().exec(sql)
      last = null
    },
    async close() {
      file?.close()
    },
  }
}

function tablesOf(file: DatabaseSync): Tables {
  const names = file
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'`,
    )
    .all()
  return Object.fromEntries(names.map(({ name }) => [name, rowsOf(file, String(name))]))
}

function rowsOf(file: DatabaseSync, table: string): Row[] {
  return file.prepare(`SELECT * FROM ${table}`).all().map(toRow)
}

async function openPostgres(url: string, schema: string): Promise<Reader> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`SET timezone = 'UTC'; SET search_path = ${schema}, pg_temp`)
  return {
    async read() {
      const { rows: names } = await client.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class WHERE relnamespace = '${schema}'::regnamespace
         AND relkind IN ('r', 'v') AND relname <> 'name_locks'`,
      )
      if (names.length === 0) return {}
      // On SQLite, a view shows the last uses.
      const uses = `(SELECT id AS api_key_id, prefix, last_used_at FROM api_keys) AS api_key_uses`
      const read = [...names.map(({ name }) => [name, name]), ['api_key_uses', uses]] as const
      const each = read.map(
        ([name, from]) => `SELECT '${name}' AS name, row_to_json(${name}) AS row FROM ${from}`,
      )
      const { rows } = await client.query<{ name: string; row: object }>(each.join(' UNION ALL '))
      const tables: Tables = Object.fromEntries(read.map(([name]) => [name, []]))
      for (const { name, row } of rows) tables[name]!.push(toRow(row))
      return tables
    },
    async execute(sql) {
      await client.query(sql)
    },
    close: () => client.end(),
  }
}

function toRow(row: object): Row {
  const entries = Object.entries(row as Record<string, unknown>)
  return Object.fromEntries(entries.map(([column, value]) => [column, toValue(column, value)]))
}

function toValue(column: string, value: unknown): Value {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (typeof value === 'string' && column.endsWith('_at')) return microsecondsOf(value)
  if (typeof value === 'string') return value.replace(/^\\x/, '')
  return typeof value === 'boolean' ? Number(value) : (value as number | null)
}

/** PostgreSQL's instants are texts, such as `2026-01-31T12:00:00.000001+00:00`. */
function microsecondsOf(text: string): number {
  if (text.endsWith('infinity')) return text.startsWith('-') ? -Infinity : Infinity
  const [, second, fraction = '', zone] = /^(.{19})(?:\.(\d+))?(.*)$/.exec(text)!
  return Date.parse(`${second}${zone}`) * 1_000 + Number(fraction.padEnd(6, '0'))
}
