import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import {
  type Column,
  type CopySource,
  type Fingerprint,
  NotCopied,
  type Row,
  type Table,
} from '../transfer/copy.ts'
import { framed } from '../transfer/framed.ts'
import { parseInstant } from '../listing/instant.ts'
import { quote } from '../listing/text.ts'
import { fromOf, placeOf, readTables } from './copied-tables.ts'
import { openDatabase } from './database.ts'
import { isLocked, unusable } from './errors.ts'
import { assertUpToDate } from './migrate.ts'
import { AlreadyServed, takeServingLock } from './file/serving-lock.ts'

/** Rows in one batch. */
const BATCH = 1_000
/** How long to wait for a command that is writing. */
const LOCK_WAIT_MS = 10_000
/** How long to wait for a process that migrates the file. */
const SERVING_WAIT_MS = 1_000

/**
 * Opens an existing file as a source. Until it is closed, no process can serve the file or write to
 * it. Throws NotCopied if one does, and NotConfigured for a file that needs a migration, is missing
 * or belongs to another program.
 */
export async function openSqliteSource(path: string): Promise<CopySource> {
  const opened: (() => void)[] = []
  const close = () => {
    for (const end of opened.splice(0).toReversed()) end()
  }
  try {
    const database = openDatabase(path, {
      synchronous: 'FULL',
      lockWaitMs: LOCK_WAIT_MS,
      keepEmpty: true,
    })
    opened.push(() => database.close())
    const lock = await takeServingLock(path, SERVING_WAIT_MS)
    opened.push(() => lock.release())
    assertUpToDate(database, path)
    // Keeps commands from writing, because later writes would not be copied.
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
  const textOf = createTextOf(database)
  const select = (table: Table, columns: string): Iterable<unknown> => {
    const statement = database.prepare(`SELECT ${columns} FROM ${fromOf(table.name)}`)
    statement.setReturnArrays(true)
    return statement.iterate()
  }
  return {
    tables: readTables(database),

    countRows(name) {
      return Number(database.prepare(`SELECT count(*) AS count FROM "${name}"`).get()?.count)
    },

    readRows(table) {
      const columns = table.columns.map((column) => textOf(table, column)).join(', ')
      return batched(select(table, columns) as Iterable<Row>)
    },

    fingerprint(table) {
      // Hash the stored bytes: reading invalid text as a string would repair it.
      const row = table.columns.map((column) => framed(column, textOf(table, column))).join(' || ')
      return sumUp(select(table, `CAST(${row} AS BLOB)`) as Iterable<[Uint8Array]>)
    },
  }
}

function* batched(rows: Iterable<Row>): Generator<Row[], void> {
  let batch: Row[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function sumUp(rows: Iterable<[Uint8Array]>): Fingerprint {
  let count = 0
  let sum = 0n
  for (const [bytes] of rows) {
    count += 1
    sum += hash('sha256', bytes, 'buffer').readBigInt64BE()
  }
  return { count, sum: String(sum) }
}

/** A function that returns SQL for a column's value as text. */
function createTextOf(database: DatabaseSync): (table: Table, column: Column) => string {
  const isInstantText = readTextColumns(database)
  addMicrosecondsOf(database)
  return (table, { name, kind }) => {
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
}

/** Whether a column was declared as text. */
function readTextColumns(database: DatabaseSync): (table: string, column: string) => boolean {
  const typeOf = database.prepare('SELECT type FROM pragma_table_info(?) WHERE name = ?')
  return (table, column) => typeOf.get(table, column)?.type === 'TEXT'
}

/** Turns an instant that a library wrote as ISO 8601 into a number like all others. */
function addMicrosecondsOf(database: DatabaseSync): void {
  database.function('microseconds_of', { deterministic: true }, (text, column) => {
    if (text === null) return null
    const instant = parseInstant(String(text))
    if (instant !== null) return String(instant)
    throw new NotCopied(
      `nothing was copied: ${String(column)} has ${quote(text)}, which is no instant`,
    )
  })
}
