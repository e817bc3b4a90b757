import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import {
  type Column,
  type CopySource,
  type Fingerprint,
  NotCopied,
  type Row,
  type Table,
} from '../listing/copy.ts'
import { parseInstant } from '../listing/instant.ts'
import { quote } from '../listing/text.ts'
import { isLocked, openDatabase, unusable } from './database.ts'
import { migrate } from './migrate.ts'
import { AlreadyServed, takeServingLock } from './serving-lock.ts'

/** Rows in one batch. */
const BATCH = 1_000
/** How long a command that is writing is waited for. */
const LOCK_WAIT_MS = 10_000

/** How long one is that migrates the file. */
const SERVING_WAIT_MS = 1_000

/**
 * What means something in this file alone. The newest use of a key, which the tables of uses hold, is in `api_key_uses`;
 * cookies are signed with the file's own secret, so people sign in again.
 */
const OWN_TABLES = new Set([
  'schema_migrations',
  'boots',
  'uses',
  'last_uses',
  'secrets',
  'sessions',
  'sign_in_attempts',
])
const OWN_COLUMNS = new Set(['api_keys.serial'])

/** Columns of a table that are not in it: where they are, by the table's name. */
const COLUMNS_ELSEWHERE: Record<string, { join: string; columns: string[] }> = {
  api_keys: {
    join: 'JOIN api_key_uses ON api_key_uses.api_key_id = api_keys.id',
    columns: ['api_key_uses.last_used_at'],
  },
}

/**
 * Opens an existing file to be copied, with its schema brought up to date. Until it is closed nobody serves the file
 * or writes to it. Throws NotCopied while somebody does, and NotConfigured where there is no database of ours.
 */
export async function openSqliteSource(path: string): Promise<CopySource> {
  const opened: (() => void)[] = []
  const close = () => {
    for (const end of opened.splice(0).toReversed()) end()
  }
  try {
    const database = openDatabase(path, { synchronous: 'FULL', lockWaitMs: LOCK_WAIT_MS })
    opened.push(() => database.close())
    opened.push(await takeServingLock(path, SERVING_WAIT_MS))
    migrate(database)
    // What a command wrote from now on would be left behind: this keeps it from writing.
    database.exec('BEGIN IMMEDIATE')
    return { ...readSource(database), close }
  } catch (error) {
    close()
    throw refusalFor(path, error)
  }
}

function refusalFor(path: string, error: unknown): unknown {
  if (error instanceof AlreadyServed)
    return new NotCopied(`nothing was copied: ${error.message}; stop it first`, { cause: error })
  if (isLocked(error))
    return new NotCopied(
      `nothing was copied: the database file ${path} is being written to by another command`,
      { cause: error },
    )
  return unusable(path, error) ?? error
}

function readSource(database: DatabaseSync): Omit<CopySource, 'close'> {
  const isInstantText = readTextColumns(database)
  // So that an instant that a library wrote as ISO 8601 is a number like all the others.
  database.function('microseconds_of', { deterministic: true }, (text, column) => {
    if (text === null) return null
    const instant = parseInstant(String(text))
    if (instant !== null) return String(instant)
    throw new NotCopied(
      `nothing was copied: ${String(column)} has ${quote(text)}, which is no instant`,
    )
  })

  /** SQL for a column's value as text. */
  function textOf(table: Table, { name, kind }: Column): string {
    const column = placeOf(table.name, name)
    switch (kind) {
      case 'text':
        return column
      case 'uuid':
        return `lower(${column})`
      case 'bytes':
        return `iif(${column} IS NULL, NULL, lower(hex(${column})))`
      case 'instant':
        if (isInstantText(table.name, name))
          return `microseconds_of(${column}, '${table.name}.${name}')`
    }
    return `CAST(${column} AS TEXT)`
  }

  function framed(table: Table, column: Column): string {
    const text = textOf(table, column)
    return column.kind === 'text'
      ? `coalesce(length(${text}) || ':' || ${text} || ';', '~')`
      : `coalesce(${text} || ';', '~')`
  }

  return {
    tables: readTables(database),

    countRows(name) {
      return Number(database.prepare(`SELECT count(*) AS count FROM "${name}"`).get()?.count)
    },

    *readRows(table) {
      const columns = table.columns.map((column) => textOf(table, column))
      const select = database.prepare(`SELECT ${columns.join(', ')} FROM ${fromOf(table.name)}`)
      select.setReturnArrays(true)
      let rows: Row[] = []
      for (const row of select.iterate() as unknown as Iterable<Row>) {
        rows.push(row)
        if (rows.length < BATCH) continue
        yield rows
        rows = []
      }
      if (rows.length > 0) yield rows
    },

    fingerprint(table): Fingerprint {
      // As bytes, as they stand in the file: text that is not well-formed would be mended on its way to a string.
      const row = table.columns.map((column) => framed(table, column)).join(' || ')
      const select = database.prepare(`SELECT CAST(${row} AS BLOB) FROM ${fromOf(table.name)}`)
      select.setReturnArrays(true)
      let count = 0
      let sum = 0n
      for (const [bytes] of select.iterate() as unknown as Iterable<[Uint8Array]>) {
        count += 1
        sum += hash('sha256', bytes, 'buffer').readBigInt64BE()
      }
      return { count, sum: String(sum) }
    },
  }
}

function readTables(database: DatabaseSync): CopySource['tables'] {
  const names = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
    .map((table) => String(table.name))
    .filter((name) => !OWN_TABLES.has(name))
  const columnsOf = database.prepare('SELECT name FROM pragma_table_info(?)')
  return inOrder(database, names).map((name) => {
    const columns = columnsOf.all(name).map((column) => String(column.name))
    const own = columns.filter((column) => !OWN_COLUMNS.has(`${name}.${column}`))
    const elsewhere = COLUMNS_ELSEWHERE[name]?.columns ?? []
    return { name, columns: [...own, ...elsewhere.map((column) => column.split('.')[1] ?? '')] }
  })
}

/** The tables, each after those that it refers to. */
function inOrder(database: DatabaseSync, names: readonly string[]): string[] {
  const referred = database.prepare('SELECT "table" AS name FROM pragma_foreign_key_list(?)')
  const ordered = new Set<string>()
  const visit = (name: string, trail: readonly string[]) => {
    if (trail.includes(name)) throw new Error(`tables refer in a circle: ${trail.join(', ')}`)
    for (const other of referred.all(name)) {
      const next = String(other.name)
      if (next !== name && names.includes(next)) visit(next, [...trail, name])
    }
    ordered.add(name)
  }
  for (const name of names) visit(name, [])
  return [...ordered]
}

/** Whether a column was declared as text. */
function readTextColumns(database: DatabaseSync): (table: string, column: string) => boolean {
  const typeOf = database.prepare('SELECT type FROM pragma_table_info(?) WHERE name = ?')
  return (table, column) => typeOf.get(table, column)?.type === 'TEXT'
}

function placeOf(table: string, column: string): string {
  const elsewhere = COLUMNS_ELSEWHERE[table]?.columns ?? []
  return elsewhere.find((place) => place.endsWith(`.${column}`)) ?? `"${table}"."${column}"`
}

function fromOf(table: string): string {
  return `"${table}" ${COLUMNS_ELSEWHERE[table]?.join ?? ''}`
}
