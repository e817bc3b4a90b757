import type { DatabaseSync } from 'node:sqlite'
import { type ArchiveTable, CLAIMS, type Kind, TABLES } from '../archive.ts'

/*
 * The rules for rows are read from our own schema, because a file may lack any of them. These
 * functions take a connection to that schema.
 */

/** What is wrong with rows, and what mends them. */
export const BREACHES = {
  type: [
    'with a value of another type than the column',
    'set the column to a value of its type, or delete the row',
  ],
  text: ['with text that is not UTF-8', 'write the text anew in UTF-8'],
  long: [
    'with text that is too long for an index',
    'shorten the text: the texts of one index have at most 2,600 bytes together',
  ],
  check: [
    'with a value that the CHECK of the column refuses',
    'set the column to a value that the CHECK accepts, or delete the row',
  ],
  unique: [
    'with a value that only one row may have',
    'give each row a value of its own, or delete all but one',
  ],
  reference: [
    'of a user or an organization that does not exist',
    'set the column to the id of one that exists, or delete the row',
  ],
  ownerless: [
    'of active keys without a user',
    'set revoked_at of the key, so that it is listed, and then delete its row. ' +
      '`server-listing key revoke --key-stdin` revokes it, too',
  ],
  unknown: [
    'of users without an email, an external_id and an identity',
    'give the user one of them, or delete the user',
  ],
  keys: [
    'of users with more than 5 active keys',
    'revoke keys of the user until 5 are active: `server-listing key revoke --user`, or set revoked_at',
  ],
} as const satisfies Record<string, readonly [found: string, remedy: string]>

export type Breach = keyof typeof BREACHES

/** A row that breaks a rule. */
export interface Found {
  table: string
  name: string
  breach: Breach
  column: string
}

/** A query for the rows of a file that break rules. One pass over each table judges its values. */
export function rulesOfFile(own: DatabaseSync): string {
  return `${[...valuesOf(own), ...uniquesOf(own)].join(' UNION ALL ')} UNION ALL ${rulesOfBoth(own)}`
}

/** A query in SQL of both engines for rows that also PostgreSQL may have. */
export function rulesOfBoth(own: DatabaseSync): string {
  return [
    ...referencesOf(own),
    ...lengthsOf(own),
    `SELECT 'users' AS "table", CAST(id AS text) AS name, 'unknown' AS breach, 'email' AS "column"
     FROM users WHERE email IS NULL AND external_id IS NULL
       AND NOT EXISTS (SELECT 1 FROM identities WHERE user_id = id)`,
    `SELECT 'users' AS "table", CAST(user_id AS text) AS name, 'keys' AS breach, 'api_keys' AS "column"
     FROM api_keys WHERE revoked_at IS NULL GROUP BY user_id HAVING count(*) > 5`,
  ].join(' UNION ALL ')
}

/** Finds the first value of each row that breaks a rule. */
function valuesOf(own: DatabaseSync): string[] {
  const found = own.prepare(`
    SELECT tables.name AS "table", sql, columns.name, columns.type, "notnull"
    FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table'`)
  const all = Map.groupBy(found.all() as unknown as Column[], (column) => column.table)
  return [...TABLES, ...CLAIMS].map((table) => {
    const { name, columns } = table
    const cases = all.get(name)!.flatMap((column) => casesOf(column, columns[column.name]))
    return `
      SELECT '${name}' AS "table", name, substr(broken, 1, instr(broken, ' ') - 1) AS breach,
        substr(broken, instr(broken, ' ') + 1) AS "column"
      FROM (SELECT ${nameOf(table)} AS name, CASE ${cases.join(' ')} END AS broken FROM ${name} AS given)
      WHERE broken IS NOT NULL`
  })
}

/** A column of our schema, with the SQL of its table. */
interface Column {
  table: string
  sql: string
  name: string
  type: keyof typeof STORED
  notnull: number
}

/** What `typeof` says of a column's values. */
const STORED = { TEXT: 'text', INTEGER: 'integer', BLOB: 'blob' }
/** ASCII is UTF-8. Only other text is handed to JavaScript. */
const BEYOND_ASCII = `'*[^' || char(1) || '-' || char(127) || ']*'`
/** A column of our schema with its CHECK, whose parentheses are at most three deep. */
const CHECK = /^ {2}(\w+) .*?CHECK (\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))/gm

function casesOf({ sql, name, type, notnull }: Column, kind: Kind | undefined): string[] {
  if (kind === undefined) return []
  const isOther = `typeof(${name}) <> '${STORED[type]}'`
  const checks = [...sql.matchAll(CHECK)].filter(([, column]) => column === name)
  const when = (broken: string, breach: Breach) => `WHEN ${broken} THEN '${breach} ${name}'`
  return [
    when(notnull === 1 ? isOther : `${name} IS NOT NULL AND ${isOther}`, 'type'),
    // PostgreSQL has these numbers in 32 bits.
    ...(kind === 'integer' ? [when(`${name} <> ${name} << 32 >> 32`, 'type')] : []),
    ...(type === 'TEXT'
      ? [when(`${name} GLOB ${BEYOND_ASCII} AND NOT is_utf8(CAST(${name} AS BLOB))`, 'text')]
      : []),
    ...checks.map(([, , check]) => when(`NOT ${check}`, 'check')),
  ]
}

function uniquesOf(own: DatabaseSync): string[] {
  return indexesOf(own, '"unique" AND NOT partial').map(([table, { columns }]) =>
    select(
      table,
      `'unique'`,
      columns,
      `${columns.replaceAll(', ', ' IS NOT NULL AND ')} IS NOT NULL
       GROUP BY ${columns} HAVING count(*) > 1`,
    ),
  )
}

/** PostgreSQL takes 2,704 bytes for an entry of an index, with its ids, instants and headers. */
const INDEXED_BYTES_MAX = 2_600

function lengthsOf(own: DatabaseSync): string[] {
  const all = indexesOf(own, 'true').flatMap(([table, { columns }]) => {
    const texts = columns.split(', ').filter((column) => table.columns[column] === 'text')
    if (texts.length === 0) return []
    const length = texts.map((column) => `octet_length(given.${column})`).join(' + ')
    return select(table, `'long'`, texts.join(', '), `${length} > ${INDEXED_BYTES_MAX}`)
  })
  // Two indexes may have the same texts.
  return [...new Set(all)]
}

/** The indexes of our schema for which the condition holds, each with its columns. */
function indexesOf(own: DatabaseSync, where: string): [ArchiveTable, Index][] {
  const found = own.prepare(`
    SELECT tables.name AS "table", group_concat(columns.name, ', ') AS columns
    FROM sqlite_schema AS tables JOIN pragma_index_list(tables.name) AS indexes
      JOIN pragma_index_info(indexes.name) AS columns
    WHERE tables.type = 'table' AND ${where} GROUP BY indexes.name`)
  return ofTables(found.all() as unknown as Index[])
}

interface Index {
  table: string
  columns: string
}

function referencesOf(own: DatabaseSync): string[] {
  const found = own.prepare(`
    SELECT tables.name AS "table", "from" AS "column", keys."table" AS target
    FROM sqlite_schema AS tables JOIN pragma_foreign_key_list(tables.name) AS keys
    WHERE tables.type = 'table'`)
  const keys = found.all() as unknown as { table: string; column: string; target: string }[]
  return ofTables(keys).map(([table, { column, target }]) => {
    const breach =
      table.name === 'api_keys'
        ? `CASE WHEN given.revoked_at IS NULL THEN 'ownerless' ELSE 'reference' END`
        : `'reference'`
    return select(
      table,
      breach,
      column,
      `given.${column} IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM ${target} AS target WHERE target.id = given.${column})`,
    )
  })
}

/** A query for rows of a table that break a rule. */
function select(table: ArchiveTable, breach: string, column: string, where: string): string {
  return `
    SELECT '${table.name}' AS "table", ${nameOf(table)} AS name, ${breach} AS breach, '${column}' AS "column"
    FROM ${table.name} AS given WHERE ${where}`
}

/** The parts of the schema that belong to the tables of an archive, each with its table. */
function ofTables<Part extends { table: string }>(parts: readonly Part[]): [ArchiveTable, Part][] {
  return TABLES.flatMap((table) =>
    parts
      .filter((part) => part.table === table.name)
      .map((part): [ArchiveTable, Part] => [table, part]),
  )
}

/** How a message names a row: by its id, or else by the columns of its key. */
function nameOf({ key, columns }: ArchiveTable): string {
  const named = key.includes('id') ? ['id'] : key
  const texts = named.map((column) =>
    columns[column] === 'bytes' ? `hex(given.${column})` : `CAST(given.${column} AS text)`,
  )
  return `substr(concat_ws(' ', ${texts.join(', ')}), 1, ${NAME_MAX})`
}

const NAME_MAX = 100
