import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'

/** What a database has. The crash tests pass it between processes as JSON. */
export interface Content {
  /** By id. */
  users: Record<string, ContentUser>
  /** By slug. A member is null if the organization has none. */
  organizations: Record<string, { userId: string | null; role: string | null }>
  /** By hash in hexadecimal. */
  keys: Record<string, Key>
  /** By owner and slug, because the ids of imported servers are unknown. */
  servers: Record<string, Server>
}

export interface ContentUser {
  email: string | null
  externalId: string | null
  password: string | null
  disabledAt: number | null
  bannedAt: number | null
}

export interface Key {
  id: string
  userId: string
  name: string
  revokedAt: number | null
}

export interface Server {
  userId: string
  slug: string
  address: string
  status: string
  updatedAt: number
}

/** The changed rows of an act; null for a removed one. */
export type Changes = { [Table in keyof Content]?: Record<string, Content[Table][string] | null> }

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

/** What the SQL of the engines calls otherwise. */
interface Dialect {
  /** An instant in microseconds. */
  micros(column: string): string
  hex(column: string): string
  object: string
  /** Where a key's last use stands. */
  uses: string
}

const SQLITE: Dialect = {
  micros: (column) => column,
  hex: (column) => `lower(hex(${column}))`,
  object: 'json_object',
  uses: 'api_key_uses',
}
const POSTGRES: Dialect = {
  micros: (column) => `(extract(epoch FROM ${column}) * 1000000)::bigint`,
  hex: (column) => `encode(${column}, 'hex')`,
  object: 'json_build_object',
  uses: '(SELECT id AS api_key_id, last_used_at FROM api_keys) AS uses',
}

/** One statement, so that all rows are those of one instant. */
const contentSql = ({ micros, hex, object }: Dialect) => `
  SELECT 'users' AS kind, CAST(id AS text) AS name,
    ${object}('email', email, 'externalId', external_id, 'password', hash,
      'disabledAt', ${micros('disabled_at')}, 'bannedAt', ${micros('banned_at')}) AS value
  FROM users LEFT JOIN passwords ON user_id = users.id
  UNION ALL
  SELECT 'organizations', slug, ${object}('userId', user_id, 'role', role)
  FROM organizations LEFT JOIN members ON organization_id = organizations.id
  UNION ALL
  SELECT 'keys', ${hex('key_hash')},
    ${object}('id', id, 'userId', user_id, 'name', name, 'revokedAt', ${micros('revoked_at')})
  FROM api_keys
  UNION ALL
  SELECT 'servers', created_by || ' ' || slug,
    ${object}('userId', created_by, 'slug', slug, 'address', host_label, 'status', status,
      'updatedAt', ${micros('updated_at')})
  FROM servers
`
const lastUsesSql = ({ micros, uses }: Dialect) => `
  SELECT api_key_id AS name, ${micros('last_used_at')} AS value FROM ${uses} WHERE last_used_at IS NOT NULL
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
      content: toContent(database.prepare(contentSql(SQLITE)).all()),
      lastUses: toLastUses(database.prepare(lastUsesSql(SQLITE)).all()),
      damage: wrong.length === 0 ? null : JSON.stringify(wrong),
    }
  } finally {
    database.close()
  }
}

function readPostgres(url: string): Promise<Reading> {
  return onPostgres(url, async (client) => ({
    content: toContent((await client.query(contentSql(POSTGRES))).rows),
    lastUses: toLastUses((await client.query(lastUsesSql(POSTGRES))).rows),
    damage: null,
  }))
}

/**
 * Waits until the sessions of a killed process have ended. They may complete its work after its
 * end.
 */
export function untilSessionsEnded(url: string): Promise<void> {
  return onPostgres(url, async (client) => {
    for (;;) {
      const { rowCount } = await client.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'server-listing'`,
      )
      if (rowCount === 0) return
      await delay(5)
    }
  })
}

/**
 * Loads the driver on demand, because most processes that write SQLite live shorter than loading
 * takes.
 */
async function onPostgres<T>(url: string, body: (client: Client) => Promise<T>): Promise<T> {
  const { asAdmin } = await import('../../fixtures/postgres/database.ts')
  return asAdmin(url, body)
}

function toContent(rows: readonly object[]): Content {
  const content = emptyContent()
  // SQLite answers JSON as text.
  for (const { kind, name, value } of rows as readonly Record<string, string>[])
    apply(content, { [kind!]: { [name!]: typeof value === 'string' ? JSON.parse(value) : value } })
  return content
}

export function emptyContent(): Content {
  return { users: {}, organizations: {}, keys: {}, servers: {} }
}

function toLastUses(rows: readonly object[]): Record<string, number> {
  const pairs = rows as readonly { name: string; value: unknown }[]
  return Object.fromEntries(pairs.map(({ name, value }) => [name, Number(value)]))
}

export function apply(content: Content, changes: Changes): void {
  for (const [table, rows] of Object.entries(changes)) {
    const present: Record<string, unknown> = content[table as keyof Content]
    for (const [name, row] of Object.entries(rows))
      if (row === null) delete present[name]
      else present[name] = row
  }
}
