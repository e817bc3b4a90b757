import { DatabaseSync } from 'node:sqlite'
import type { Migration } from '../database/migrations.ts'
import { migrate, MIGRATIONS } from '../sqlite/migrate.ts'
import { tableNames } from '../sqlite/schema.ts'

/** A part of a schema. */
export interface SchemaPart {
  type: 'table' | 'index' | 'trigger' | 'view'
  name: string
  /** The table or view that it belongs to. */
  table: string
  sql: string
}

/** Our schema, without what another program may have added to a database. */
export function withOwnSchema<T>(
  read: (own: DatabaseSync) => T,
  migrations: readonly Migration[] = MIGRATIONS,
): T {
  const own = new DatabaseSync(':memory:')
  try {
    migrate(own, migrations)
    return read(own)
  } finally {
    own.close()
  }
}

/** The triggers of this program, as its migrations create them. */
export function ownTriggers(): SchemaPart[] {
  return withOwnSchema(readSchema).filter(({ type }) => type === 'trigger')
}

/** Drops parts of a schema. The returned function makes them again. */
export function dropParts(database: DatabaseSync, parts: readonly SchemaPart[]): () => void {
  for (const { type, name } of parts)
    database.exec(`DROP ${type} IF EXISTS main."${name.replaceAll('"', '""')}"`)
  return () => {
    for (const { sql } of parts) database.exec(sql)
  }
}

/** What another program has added to a database file. */
export function findForeign(database: DatabaseSync): SchemaPart[] {
  const own = new Set(withOwnSchema(readSchema).map(keyOf))
  return readSchema(database).filter((part) => !own.has(keyOf(part)))
}

const keyOf = ({ type, name }: SchemaPart): string => `${type} ${name}`

/** Triggers and views come before their tables, and virtual tables before those that they need. */
export function readSchema(database: DatabaseSync): SchemaPart[] {
  return database
    .prepare(
      `SELECT type, name, tbl_name AS "table", sql FROM main.sqlite_schema
       WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       ORDER BY type = 'table', sql NOT LIKE 'CREATE VIRTUAL%', rowid`,
    )
    .all() as unknown as SchemaPart[]
}

/**
 * What another program has attached to the tables of this one, in words. A restore would fire its
 * triggers or break its references.
 */
export function findAttached(database: DatabaseSync): string[] {
  return withOwnSchema((own) => {
    const tables = tableNames(own)
    const isOwn = (name: string) => tables.includes(name.toLowerCase())
    const triggers = findForeign(database)
      .filter(({ type, table }) => type === 'trigger' && isOwn(table))
      .map(({ name, table }) => `the trigger ${name} on ${table}`)
    const references = tableNames(database)
      .filter((name) => !isOwn(name))
      .flatMap((name) =>
        referredBy(database, name)
          .filter(isOwn)
          .map((target) => `the foreign key of ${name} on ${target}`),
      )
    return [...triggers, ...references]
  })
}

function referredBy(database: DatabaseSync, table: string): string[] {
  const rows = database
    .prepare('SELECT DISTINCT "table" AS name FROM pragma_foreign_key_list(?)')
    .all(table)
  return rows.map(({ name }) => String(name))
}
