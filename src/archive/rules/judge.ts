import { isUtf8 } from 'node:buffer'
import type { DatabaseSync } from 'node:sqlite'
import { escapeInvisible } from '../../model/characters/invisible.ts'
import { type Finding, judgeTriggers, ok, problem } from '../../model/health/finding.ts'
import { isNewer, tableNames } from '../../sqlite/schema.ts'
import {
  type ArchiveTable,
  type BrokenRows,
  describeBroken,
  NotRestored,
  TABLES,
} from '../archive.ts'
import { ownTriggers, readSchema, withOwnSchema } from '../foreign.ts'
import { inspectKept } from '../leftovers.ts'
import { type Found, rulesOfFile, type Breach, BREACHES } from './schema.ts'

/*
 * Rows that come from elsewhere may break the rules of our schema: another program has dropped a
 * trigger, does not enforce references, or has changed the schema itself.
 */

/** Rows of a breach that are named. The others are counted. */
const NAMED_MAX = 5

/** Collects what rules find. */
export function collectBroken() {
  const all = new Map<Breach, { first: string[]; count: number }>()
  return {
    add({ table, name, breach, column }: Found): void {
      const rows = all.get(breach) ?? { first: [], count: 0 }
      all.set(breach, rows)
      rows.count += 1
      if (rows.first.length < NAMED_MAX)
        rows.first.push(`${table} ${escapeInvisible(name)} (${column})`)
    },
    all: (): BrokenRows[] =>
      Array.from(all, ([breach, rows]) => ({
        ...rows,
        found: BREACHES[breach][0],
        remedy: BREACHES[breach][1],
      })),
  }
}

/** Judges the rows of a file in the present schema, or those of one table. */
export function findBrokenRows(database: DatabaseSync, table?: string): BrokenRows[] {
  const options = { deterministic: true, directOnly: true }
  database.function('is_utf8', options, (bytes) => Number(isUtf8(bytes as Uint8Array)))
  const broken = collectBroken()
  const rules = withOwnSchema(rulesOfFile)
  const rows = database.prepare(
    `WITH ${TABLES.map(byBytes).join(', ')}
     SELECT * FROM (${rules}) WHERE "table" = coalesce(?, "table")`,
  )
  const found: Iterable<unknown> = rows.iterate(table ?? null)
  for (const row of found as Iterable<Found>) broken.add(row)
  return broken.all()
}

/** The table under its own name, whose columns may have been given another collation. */
function byBytes({ name, columns }: ArchiveTable): string {
  const selected = Object.keys(columns).map((column) => `${column} COLLATE BINARY AS ${column}`)
  return `${name} AS NOT MATERIALIZED (SELECT ${selected.join(', ')} FROM main.${name})`
}

/** The message has the path, the rows, and what mends them. */
export class BrokenArchive extends NotRestored {}

/** Throws BrokenArchive if rows of an archive break rules. */
export function assertRules({ database, path }: { database: DatabaseSync; path: string }): void {
  const broken = findBrokenRows(database)
  if (broken.length === 0) return
  throw new BrokenArchive(
    `cannot restore ${path}: some of its rows break rules of the schema. Mend them in the ` +
      'database and back it up again, or mend a copy of this file with sqlite3\n' +
      sayBroken(broken),
  )
}

/** Each with what mends it, on lines of its own. */
export function sayBroken(broken: readonly BrokenRows[]): string {
  return broken.map((rows) => `${describeBroken(rows)}\n  → ${rows.remedy}`).join('\n')
}

/** Judges the rows of a database file for `doctor`. */
export function inspectRows(database: DatabaseSync): Finding[] {
  const unreadable = findUnreadable(database) ?? findMissing(database)
  if (unreadable === null)
    return [
      ...judgeRows(findBrokenRows(database)),
      inspectTriggers(database),
      ...inspectKept(database.location()!),
    ]
  return [problem('rows', unreadable, 'mend that, or restore a backup into a new file')]
}

function inspectTriggers(database: DatabaseSync): Finding {
  if (isNewer(database)) return ok('triggers', 'the triggers are those of a newer server-listing')
  const present = new Map(readSchema(database).map(({ name, sql }) => [name, sql]))
  const silent = ownTriggers().filter(({ name, sql }) => present.get(name) !== sql)
  return judgeTriggers(
    silent.map(({ name }) => name),
    'make a backup and restore it into a new database, which has all triggers',
  )
}

/** What `doctor` says of broken rows. */
export function judgeRows(broken: readonly BrokenRows[]): Finding[] {
  if (broken.length === 0) return [ok('rows', 'all rows keep the rules of the schema')]
  return broken.map((rows) => problem('rows', describeBroken(rows), rows.remedy))
}

/**
 * Why no rows can be read, in words: a table of ours is a view. Null if there is no reason. Reads
 * no rows, because a view may have no end.
 */
export function findUnreadable(database: DatabaseSync): string | null {
  const own = withOwnSchema(tableNames)
  const others = database
    .prepare(`SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type <> 'table'`)
    .all()
    .map(({ name, type }) => ({ name: String(name), type: String(type) }))
  const found = others.find(({ name }) => own.includes(name.toLowerCase()))
  return found === undefined ? null : `${found.name} is no table but a ${found.type}`
}

/**
 * Which columns a table of ours lacks, in words. Null if all are there. Needs the present schema.
 */
export function findMissing(database: DatabaseSync): string | null {
  const found = new Set(columnsOf(database).map(({ table, column }) => `${table}.${column}`))
  const missing = withOwnSchema(columnsOf).filter(
    ({ table, column }) => !found.has(`${table}.${column}`),
  )
  if (missing.length === 0) return null
  const [{ table }] = missing as [Column]
  const columns = missing.filter((each) => each.table === table).map(({ column }) => column)
  return `its table ${table} was changed: it lacks ${columns.join(', ')}`
}

interface Column {
  table: string
  column: string
}

/** The columns of all tables, in lower case. */
function columnsOf(database: DatabaseSync): Column[] {
  const columns = database.prepare(`
    SELECT lower(tables.name) AS "table", lower(columns.name) AS "column"
    FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table'`)
  return columns.all() as unknown as Column[]
}
