import type { DatabaseSync } from 'node:sqlite'
import { type ArchiveTable, TABLES } from '../archive.ts'

/*
 * The rules for rows are read from our own schema, because a file may lack any of them. These
 * functions take a connection to that schema.
 */

/** What is wrong with rows, and what mends them. */
export const WAYS = {
  type: [
    'with a value of another type than the column',
    'set the column to a value of its type, or delete the row',
  ],
  text: ['with text that is not UTF-8', 'write the text anew in UTF-8'],
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
    'of keys that work and have no user',
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

export type Way = keyof typeof WAYS

/** A row of a rule's result: the name of a row that breaks it, and the column. */
export interface Found {
  name: string
  way: Way
  column: string
}

/** Finds broken rows of one table. */
export interface Rule {
  table: string
  sql: string
}

/** The rules for a file. One pass over each table judges its values. */
export function rulesOfFile(own: DatabaseSync): Rule[] {
  return [
    ...TABLES.map((table) => valuesOf(own, table)),
    ...TABLES.flatMap((table) => uniquesOf(own, table)),
    ...rulesOfBoth(own),
  ]
}

/** Those rules that a row on PostgreSQL can break, too, in SQL of both engines. */
export function rulesOfBoth(own: DatabaseSync): Rule[] {
  return [
    ...TABLES.flatMap((table) => referencesOf(own, table)),
    {
      table: 'users',
      sql: `
        SELECT CAST(id AS text) AS name, 'unknown' AS way, 'email' AS "column" FROM users
        LEFT JOIN identities ON user_id = id
        WHERE email IS NULL AND external_id IS NULL AND user_id IS NULL`,
    },
    {
      table: 'users',
      sql: `
        SELECT CAST(user_id AS text) AS name, 'keys' AS way, 'api_keys' AS "column" FROM api_keys
        WHERE revoked_at IS NULL GROUP BY user_id HAVING count(*) > 5`,
    },
  ]
}

/** Finds the first value of each row that breaks a rule. */
function valuesOf(own: DatabaseSync, table: ArchiveTable): Rule {
  const { name, columns } = table
  const infos = read(own, `SELECT name, type, "notnull" FROM pragma_table_info('${name}')`)
  const [{ sql = '' } = {}] = read(own, `SELECT sql FROM sqlite_schema WHERE name = '${name}'`)
  const checks = new Map(Array.from(sql.matchAll(CHECK), ([, of = '', check]) => [of, check]))
  const cases = infos.flatMap(({ name: column = '', type = '', notnull }) => {
    const kind = columns[column]
    if (kind === undefined) return []
    const isOther = `typeof(${column}) <> '${STORED[type]}'`
    const way = (is: Way, broken: string) => `WHEN ${broken} THEN '${is} ${column}'`
    return [
      way('type', notnull === '1' ? isOther : `${column} IS NOT NULL AND ${isOther}`),
      // PostgreSQL has these numbers in 32 bits.
      ...(kind === 'integer' ? [way('type', `${column} <> ${column} << 32 >> 32`)] : []),
      ...(type === 'TEXT'
        ? [way('text', `${column} GLOB ${BEYOND_ASCII} AND NOT is_utf8(CAST(${column} AS BLOB))`)]
        : []),
      ...(checks.has(column) ? [way('check', `NOT ${checks.get(column)}`)] : []),
    ]
  })
  return {
    table: name,
    sql: `
      SELECT name, substr(broken, 1, instr(broken, ' ') - 1) AS way,
        substr(broken, instr(broken, ' ') + 1) AS "column"
      FROM (SELECT ${nameOf(table)} AS name, CASE ${cases.join(' ')} END AS broken FROM ${name} AS given)
      WHERE broken IS NOT NULL`,
  }
}

/** What `typeof` says of a column's values. */
const STORED: Record<string, string> = { TEXT: 'text', INTEGER: 'integer', BLOB: 'blob' }
/** ASCII is UTF-8. Only other text is handed to JavaScript. */
const BEYOND_ASCII = `'*[^' || char(1) || '-' || char(127) || ']*'`
/** A column of our schema with its CHECK, whose parentheses are at most three deep. */
const CHECK = /^ {2}(\w+) .*?CHECK (\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))/gm

function uniquesOf(own: DatabaseSync, table: ArchiveTable): Rule[] {
  const unique = `SELECT name FROM pragma_index_list('${table.name}') WHERE "unique" AND NOT partial`
  return read(own, unique).map(({ name: index }) => {
    const infos = read(own, `SELECT name FROM pragma_index_info('${index}')`)
    const names = infos.map(({ name }) => name)
    const isSet = names.map((name) => `${name} IS NOT NULL`).join(' AND ')
    return {
      table: table.name,
      sql: `
        SELECT ${nameOf(table)} AS name, 'unique' AS way, '${names.join(', ')}' AS "column"
        FROM ${table.name} AS given WHERE ${isSet} GROUP BY ${names.join(', ')} HAVING count(*) > 1`,
    }
  })
}

function referencesOf(own: DatabaseSync, table: ArchiveTable): Rule[] {
  const { name } = table
  const way: Way = name === 'api_keys' ? 'ownerless' : 'reference'
  const keys = `SELECT "from" AS "column", "table" AS target FROM pragma_foreign_key_list('${name}')`
  return read(own, keys).map(({ column, target }) => ({
    table: name,
    sql: `
      SELECT ${nameOf(table)} AS name, '${way}' AS way, '${column}' AS "column"
      FROM ${name} AS given LEFT JOIN ${target} AS target ON target.id = given.${column}
      WHERE given.${column} IS NOT NULL AND target.id IS NULL`,
  }))
}

function read(own: DatabaseSync, query: string): Record<string, string | undefined>[] {
  return own
    .prepare(query)
    .all()
    .map((row) => Object.fromEntries(Object.entries(row).map(([name, one]) => [name, String(one)])))
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
