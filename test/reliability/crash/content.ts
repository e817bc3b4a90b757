import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'

/**
 * The users, organizations, keys and servers of a database: one line of text for each, by its name.
 */
export type Content = Record<string, string>

/** The changes of an act; null for a removed line. */
export type Changes = Record<string, string | null>

export interface Reading {
  content: Content
  /**
   * `last_used_at` by key id, in microseconds, without keys that were never used. Null if it was
   * not read.
   */
  lastUses: Record<string, number> | null
  /** Damage of the database itself; null if there is none. */
  damage: string | null
}

/** SQL for an instant in microseconds. */
type Micros = (column: string) => string
const SQLITE_MICROS: Micros = (column) => column
const POSTGRES_MICROS: Micros = (column) => `(extract(epoch FROM ${column}) * 1000000)::bigint`

const contentSql = (micros: Micros) => `
  SELECT 'user ' || email AS name, users.id || ' ' || coalesce(hash, 'without a password') AS value
  FROM users LEFT JOIN passwords ON user_id = users.id
  UNION ALL
  SELECT 'organization ' || slug, coalesce(user_id || ' ' || role, 'without a member')
  FROM organizations LEFT JOIN members ON organization_id = organizations.id
  UNION ALL
  SELECT 'key ' || id, user_id || ' ' || name || coalesce(' revoked ' || ${micros('revoked_at')}, '') FROM api_keys
  UNION ALL
  SELECT 'server ' || created_by || ' ' || slug, host_label || ' ' || status || ' ' || ${micros('updated_at')}
  FROM servers
`
const lastUsesSql = (micros: Micros) => `
  SELECT api_key_id AS name, ${micros('last_used_at')} AS value FROM api_key_uses WHERE last_used_at IS NOT NULL
`

/** Reads the database on its own connection, without the store. */
export function readDatabase(url: string): Promise<Reading> {
  return url.startsWith('sqlite:')
    ? Promise.resolve(readSqlite(url.slice('sqlite:'.length)))
    : readPostgres(url)
}

function readSqlite(path: string): Reading {
  const database = new DatabaseSync(path, { timeout: 5_000 })
  try {
    const wrong = ['integrity_check', 'foreign_key_check']
      .flatMap((pragma) => database.prepare(`PRAGMA ${pragma}`).all())
      .filter((row) => row.integrity_check !== 'ok')
    return {
      content: toRecord(database.prepare(contentSql(SQLITE_MICROS)).all(), String),
      lastUses: toRecord(database.prepare(lastUsesSql(SQLITE_MICROS)).all(), Number),
      damage: wrong.length === 0 ? null : JSON.stringify(wrong),
    }
  } finally {
    database.close()
  }
}

async function readPostgres(url: string): Promise<Reading> {
  const client = await connect(url)
  try {
    return {
      content: toRecord((await client.query(contentSql(POSTGRES_MICROS))).rows as object[], String),
      lastUses: toRecord(
        (await client.query(lastUsesSql(POSTGRES_MICROS))).rows as object[],
        Number,
      ),
      damage: null,
    }
  } finally {
    await client.end()
  }
}

/**
 * Waits until the sessions of a killed process have ended. They may complete its work after its
 * end.
 */
export async function untilSessionsEnded(url: string): Promise<void> {
  const client = await connect(url)
  try {
    for (;;) {
      const { rowCount } = await client.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'server-listing'`,
      )
      if (rowCount === 0) return
      await delay(5)
    }
  } finally {
    await client.end()
  }
}

/**
 * Loads the driver on demand, because most processes that write SQLite live shorter than loading
 * takes.
 */
async function connect(url: string): Promise<Client> {
  const { default: pg } = await import('pg')
  const client = new pg.Client(url)
  await client.connect()
  return client
}

function toRecord<T>(rows: readonly object[], read: (value: unknown) => T): Record<string, T> {
  const pairs = rows as readonly { name: string; value: unknown }[]
  return Object.fromEntries(pairs.map(({ name, value }) => [name, read(value)]))
}

export function apply(content: Content, changes: Changes): void {
  for (const [name, value] of Object.entries(changes))
    if (value === null) delete content[name]
    else content[name] = value
}
