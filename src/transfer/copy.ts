/*
 * Copies a whole database from one engine to another. The source lists its tables, so that a table
 * of a later migration is copied without a change here.
 */

/** The type of a column's values, which decides how every engine writes them as text. */
export type Kind =
  /** As it is. */
  | 'text'
  /** In lower case. */
  | 'uuid'
  /** Whole, in decimal digits. */
  | 'number'
  /** 0 or 1. */
  | 'boolean'
  /** Whole microseconds since 1970, UTC. */
  | 'instant'
  /** In lowercase hex digits. */
  | 'bytes'

export interface Column {
  name: string
  kind: Kind
}

export interface Table {
  name: string
  columns: Column[]
}

/** One text per column, or null. */
export type Row = (string | null)[]

/**
 * The content of a table, independent of the order of its rows: their number and the sum of their
 * checksums. The checksum of a row is the first eight bytes of a SHA-256, as a signed number. Its
 * input is the row's values in turn: `LENGTH:TEXT;` for a text, with its length in code points,
 * `VALUE;` for any other value, and `~` for null.
 */
export interface Fingerprint {
  count: number
  sum: string
}

/** A snapshot of an engine's tables. It stays the same until `close`. */
export interface CopySource {
  /**
   * Without tables that only the engine itself uses. A table follows the tables that it references.
   */
  tables: { name: string; columns: string[] }[]
  countRows(name: string): number
  /** All rows, in batches. */
  readRows(table: Table): Iterable<Row[]>
  /** Reads the table once more. */
  fingerprint(table: Table): Fingerprint
  close(): void
}

/** An open transaction of the engine that receives the copy. */
export interface CopyTarget {
  /**
   * The kinds of all columns, by table and column. Null is a type that copying does not support.
   */
  describeTables(): Promise<Map<string, Map<string, Kind | null>>>
  countRows(name: string): Promise<number>
  /** Throws NotCopied if the engine rejects a row. */
  writeRows(table: Table, rows: readonly Row[]): Promise<void>
  /** Reads the written rows back. */
  fingerprint(table: Table): Promise<Fingerprint>
}

/** Gets the progress of one table. */
export type OnProgress = (progress: Progress) => void

export interface Progress {
  table: string
  act: 'copied' | 'compared'
  /** Rows so far. */
  done: number
  /** All rows of the table. */
  count: number
}

export interface CopiedTable {
  name: string
  count: number
}

/** The copy failed and the target is unchanged. The message is for the operator. */
export class NotCopied extends Error {
  override name = 'NotCopied'
}

/**
 * Copies all tables, then compares them. The caller must roll the target's transaction back if this
 * throws.
 */
export async function copyTables(
  source: CopySource,
  target: CopyTarget,
  onProgress: OnProgress,
): Promise<CopiedTable[]> {
  const tables = matchTables(source, await target.describeTables())
  await refuseIfFilled(target, tables)
  for (const table of tables) await copyTable(source, target, table, onProgress)
  const copied: CopiedTable[] = []
  for (const table of tables) {
    const { count } = await compareTable(source, target, table)
    onProgress({ table: table.name, act: 'compared', done: count, count })
    copied.push({ name: table.name, count })
  }
  return copied
}

/**
 * Finds each column of the source in the target. A missing one is an error, because its data would
 * be lost.
 */
function matchTables(
  source: CopySource,
  known: ReadonlyMap<string, ReadonlyMap<string, Kind | null>>,
): Table[] {
  return source.tables.map(({ name, columns }) => {
    const kinds = known.get(name)
    if (kinds === undefined)
      throw new NotCopied(`nothing was copied: the target has no table ${name}`)
    return { name, columns: columns.map((column) => matchColumn(name, column, kinds.get(column))) }
  })
}

function matchColumn(table: string, column: string, kind: Kind | null | undefined): Column {
  if (kind === undefined)
    throw new NotCopied(`nothing was copied: the target's table ${table} has no column ${column}`)
  if (kind === null)
    throw new NotCopied(
      `nothing was copied: the target's column ${column} of ${table} has a type that copying does not know`,
    )
  return { name: column, kind }
}

async function refuseIfFilled(target: CopyTarget, tables: readonly Table[]): Promise<void> {
  const found: string[] = []
  for (const { name } of tables) {
    const count = await target.countRows(name)
    if (count > 0) found.push(`${name} (${count})`)
  }
  if (found.length > 0)
    throw new NotCopied(
      `nothing was copied: the target database must be empty, but has rows in ${found.join(', ')}`,
    )
}

async function copyTable(
  source: CopySource,
  target: CopyTarget,
  table: Table,
  onProgress: OnProgress,
): Promise<void> {
  const count = source.countRows(table.name)
  let done = 0
  // Reads the next batch while the target writes the last one.
  let writing = Promise.resolve()
  for (const rows of source.readRows(table)) {
    await writing
    onProgress({ table: table.name, act: 'copied', done, count })
    done += rows.length
    writing = handled(target.writeRows(table, rows))
  }
  await writing
  onProgress({ table: table.name, act: 'copied', done, count })
}

async function compareTable(
  source: CopySource,
  target: CopyTarget,
  table: Table,
): Promise<Fingerprint> {
  const reading = handled(target.fingerprint(table))
  const read = source.fingerprint(table)
  const written = await reading
  const { name } = table
  if (written.count !== read.count)
    throw new NotCopied(
      `nothing was copied: the table ${name} has ${read.count} rows, but ${written.count} arrived`,
    )
  if (written.sum !== read.sum)
    throw new NotCopied(
      `nothing was copied: rows of the table ${name} changed on the way: their checksums differ`,
    )
  return read
}

/** Lets the caller await the promise later, or never if another step fails first. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
