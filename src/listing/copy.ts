/*
 * Carrying everything from one engine into another. The tables are those that the source has, by their names; which
 * they are, nobody is told here, so that a table of a later migration is carried too.
 */

/** What the values of a column are, and so how they are written as text, in every engine alike. */
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
  /** In lower-case hex digits. */
  | 'bytes'

export interface Column {
  name: string
  kind: Kind
}

export interface Table {
  name: string
  columns: Column[]
}

/** Values as text, one for each column. */
export type Row = (string | null)[]

/**
 * What tells two tables apart: the number of rows, and the sum of their checksums, each the first eight bytes of a
 * SHA-256, as a signed number, of the row's values one after the other: `LENGTH:TEXT;` for a text, with its length in
 * code points, `VALUE;` for any other, `~` for null.
 */
export interface Fingerprint {
  count: number
  sum: string
}

/** An engine's tables as they are at one moment, for as long as this is open. */
export interface CopySource {
  /** Without those that mean something to the engine alone. Each stands after those that it refers to. */
  tables: { name: string; columns: string[] }[]
  countRows(name: string): number
  /** All rows, a batch at a time. */
  readRows(table: Table): Iterable<Row[]>
  /** Reads the table once more. */
  fingerprint(table: Table): Fingerprint
  close(): void
}

/** An open transaction of the engine that is copied into. */
export interface CopyTarget {
  /** Its tables by their names; null stands for the kind of a column whose type is none of those that are known. */
  describeTables(): Promise<Map<string, Map<string, Kind | null>>>
  countRows(name: string): Promise<number>
  /** Throws NotCopied if the engine does not take them. */
  writeRows(table: Table, rows: readonly Row[]): Promise<void>
  /** Reads back what was written. */
  fingerprint(table: Table): Promise<Fingerprint>
}

/** Told how far copying has come: the rows that are done, of all of the table's. */
export type OnProgress = (progress: Progress) => void

export interface Progress {
  table: string
  act: 'copied' | 'compared'
  done: number
  count: number
}

export interface CopiedTable {
  name: string
  count: number
}

/** Nothing was copied, and the target is as it was. The message is for the person who wanted it. */
export class NotCopied extends Error {
  override name = 'NotCopied'
}

/** Copies all tables and compares them. What is thrown has to end the target's transaction without effect. */
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

/** The source's tables, with the kinds that the target knows their columns by. What it lacks would be lost. */
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
      `nothing was copied: the database to copy into has to be empty, and has rows in ${found.join(', ')}`,
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
  // The next batch is read while the target is at work on the last one.
  let writing = Promise.resolve()
  for (const rows of source.readRows(table)) {
    await writing
    onProgress({ table: table.name, act: 'copied', done, count })
    done += rows.length
    writing = begun(target.writeRows(table, rows))
  }
  await writing
  onProgress({ table: table.name, act: 'copied', done, count })
}

async function compareTable(
  source: CopySource,
  target: CopyTarget,
  table: Table,
): Promise<Fingerprint> {
  const reading = begun(target.fingerprint(table))
  const read = source.fingerprint(table)
  const written = await reading
  const { name } = table
  if (written.count !== read.count)
    throw new NotCopied(
      `nothing was copied: the table ${name} has ${read.count} rows, and ${written.count} arrived`,
    )
  if (written.sum !== read.sum)
    throw new NotCopied(
      `nothing was copied: the rows of the table ${name} did not arrive as they were: their checksums differ`,
    )
  return read
}

/** A promise that is awaited later, or never, if something else fails before. */
function begun<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
