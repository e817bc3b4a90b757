import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Revocations } from '../model/key-hash.ts'
import { escapeInvisible } from '../model/characters/invisible.ts'
import { bounded } from '../sqlite/database.ts'
import { type ArchiveTable, CLAIMS, NotRestored, TABLES } from './archive.ts'
import type { OpenArchive } from './open.ts'

/*
 * What a restore makes of the present rows and an archive, on either engine. The functions take a
 * connection to an SQLite file with the present rows, to which the archive is attached.
 */

const CACHE_KIB = 8_192

export function attachArchive(database: DatabaseSync, { database: archive }: OpenArchive): void {
  database.prepare('ATTACH ? AS archive').run(`${pathToFileURL(archive.location()!).href}?mode=ro`)
  for (const schema of ['main', 'archive', 'temp'])
    database.exec(`PRAGMA ${schema}.cache_size = -${CACHE_KIB}`)
}

/** Whether a row is a last use. A program may have changed the types of its table. */
export const isUse = ({ columns }: ArchiveTable): string =>
  Object.keys(columns)
    .map((column) => `typeof(${column}) = 'integer'`)
    .join(' AND ')

/** Last uses as one instant per key. The clock may have been set back between two. */
export function lastUses(schema: 'main' | 'archive'): string {
  const all = CLAIMS.map(
    (table) => `SELECT api_key, claimed_at FROM ${schema}.${table.name} WHERE ${isUse(table)}`,
  )
  return `
    SELECT api_key, max(claimed_at) AS claimed_at FROM (${all.join(' UNION ALL ')})
    GROUP BY api_key`
}

/**
 * Makes views of the rows that each table must get: those of the archive, united with the present
 * list of revoked hashes, last uses, and disabled and banned users. They stay as they are when the
 * present rows change. Returns how many keys that are active in the archive must be revoked.
 */
export function planRows(database: DatabaseSync, lists: readonly Revocations[]): number {
  // In order: each row goes to the end of its table. No key has a hash of another length.
  database.exec(`
    CREATE TEMP TABLE listed (key_hash PRIMARY KEY, revoked_at) WITHOUT ROWID;
    INSERT INTO listed
      SELECT key_hash, revoked_at FROM main.revoked_hashes WHERE length(key_hash) = 32 ORDER BY 1;
    INSERT OR IGNORE INTO listed
      SELECT key_hash, revoked_at FROM archive.revoked_hashes ORDER BY 1;
    INSERT OR IGNORE INTO listed
      SELECT key_hash, revoked_at FROM archive.api_keys WHERE revoked_at IS NOT NULL;
    CREATE TEMP TABLE last (key_hash PRIMARY KEY, claimed_at) WITHOUT ROWID;
    INSERT INTO last ${usesOf('main')} ORDER BY 1;
    INSERT INTO last SELECT * FROM (${usesOf('archive')}) WHERE true ORDER BY 1
      ON CONFLICT DO UPDATE SET claimed_at = max(claimed_at, excluded.claimed_at);
    CREATE TEMP TABLE disabled (id PRIMARY KEY, disabled_at, banned_at) WITHOUT ROWID;
    INSERT INTO disabled ${disabledIn('archive')};
    INSERT INTO disabled ${disabledIn('main')}
      ON CONFLICT DO UPDATE SET disabled_at = coalesce(disabled_at, excluded.disabled_at),
        banned_at = coalesce(banned_at, excluded.banned_at)`)
  const insert = database.prepare('INSERT OR IGNORE INTO temp.listed VALUES (unhex(?), ?)')
  for (const list of lists) for (const [hash, at] of list) insert.run(hash, at)
  for (const { name, columns } of TABLES) {
    const selected = Object.entries(columns).map(([column, kind]) => {
      // The archive's own column may compare text otherwise.
      const value = UNITED[`${name}.${column}`] ?? `given.${column} COLLATE BINARY`
      return kind === 'instant' ? `${bounded(value)} AS ${column}` : `${value} AS ${column}`
    })
    if (name === 'api_keys') selected.push(`${bounded(LAST_USE)} AS last_used_at`)
    const from = name === 'revoked_hashes' ? 'temp.listed' : `archive.${name}`
    database.exec(
      `CREATE TEMP VIEW wanted_${name} AS SELECT ${selected.join(', ')} FROM ${from} AS given`,
    )
  }
  return countIn(
    database,
    `archive.api_keys AS given JOIN temp.listed USING (key_hash) WHERE given.revoked_at IS NULL`,
  )
}

/** A key is its hash: serials are numbers of one file. */
const usesOf = (schema: 'main' | 'archive'): string => `
  SELECT key_hash, claimed_at FROM (${lastUses(schema)}) JOIN ${schema}.api_keys ON serial = api_key`

const disabledIn = (schema: 'main' | 'archive'): string => `
  SELECT id, disabled_at, banned_at FROM ${schema}.users
  WHERE coalesce(disabled_at, banned_at) IS NOT NULL`

const LAST_USE = '(SELECT claimed_at FROM temp.last WHERE key_hash = given.key_hash)'

const UNITED: Readonly<Record<string, string>> = {
  'users.disabled_at': '(SELECT disabled_at FROM temp.disabled WHERE id = given.id)',
  'users.banned_at': '(SELECT banned_at FROM temp.disabled WHERE id = given.id)',
  'api_keys.disabled_at':
    '(SELECT coalesce(disabled_at, banned_at) FROM temp.disabled WHERE id = given.user_id)',
  'api_keys.revoked_at':
    'coalesce(given.revoked_at, (SELECT revoked_at FROM temp.listed WHERE key_hash = given.key_hash))',
}

/** A query for the keys of present rows that must go. */
export function missingRows({ name, key }: ArchiveTable): string {
  return `SELECT ${key.join(', ')} FROM main.${name} AS own
    WHERE NOT EXISTS (SELECT 1 FROM temp.wanted_${name} AS wanted WHERE ${same(key, '=')})`
}

/** A query for the rows that the present ones lack or have otherwise. */
export function changedRows({ name, key, columns }: ArchiveTable): string {
  const names = Object.keys(columns)
  const others = names.filter((column) => !key.includes(column))
  return `SELECT ${names.join(', ')} FROM temp.wanted_${name} AS wanted
    WHERE NOT EXISTS (
      SELECT 1 FROM ${presentRows(name)} AS own WHERE ${[same(key, '='), ...others.map((one) => same([one], 'IS'))].join(' AND ')}
    )`
}

const same = (columns: readonly string[], is: '=' | 'IS'): string =>
  columns.map((column) => `wanted.${column} ${is} own.${column}`).join(' AND ')

/** Only an archive has all last uses in one table. */
const presentRows = (name: string): string =>
  name === 'api_keys'
    ? `(SELECT *, (SELECT claimed_at FROM main.older_claims WHERE api_key = serial) AS last_used_at FROM main.api_keys)`
    : `main.${name}`

/** Frees the unique values of rows that change: one row may get the value that another one had. */
export const FREED: Readonly<Record<string, string>> = {
  users: 'email = NULL, external_id = NULL',
  organizations: `slug = 'restoring ' || id`,
}

export function deleteRows({ name, key }: ArchiveTable, rows: string): string {
  return `DELETE FROM ${name} WHERE (${key.join(', ')}) IN (SELECT ${key.join(', ')} FROM ${rows})`
}

export function freeRows({ name }: ArchiveTable, freed: string, rows: string): string {
  return `UPDATE ${name} SET ${freed} WHERE id IN (SELECT id FROM ${rows})`
}

/** A row stays where its key stays, because another program may have columns of its own there. */
export function writeRows({ name, key }: ArchiveTable, columns: readonly string[], rows: string) {
  return `INSERT INTO ${name} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM ${rows} WHERE true
    ON CONFLICT (${key[0] === 'id' ? 'id' : key.join(', ')}) DO UPDATE
    SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`
}

/** Throws NotRestored if a table differs from what it must be. */
export function assertRestored(database: DatabaseSync, table: ArchiveTable): void {
  const [found, wanted] = [`main.${table.name}`, `temp.wanted_${table.name}`].map((rows) =>
    countIn(database, rows),
  )
  const wrong = database.prepare(`${changedRows(table)} LIMIT 1`).get()
  const difference = wrong && findDifference(database, presentRows(table.name), table, wrong)
  assertEqual(table, found!, wanted!, difference)
}

/** What differs between a row and the one of `rows` with its key. */
export function findDifference(
  database: DatabaseSync,
  rows: string,
  { key, columns }: ArchiveTable,
  row: Readonly<Record<string, SQLInputValue>>,
): Difference {
  const names = Object.keys(columns)
  const differs = names.map((column) => `${column} IS NOT ? AS ${column}`)
  const isSame = key.map((column) => `${column} = ?`)
  const found = database
    .prepare(`SELECT ${differs.join(', ')} FROM ${rows} WHERE ${isSame.join(' AND ')}`)
    .get(...[...names, ...key].map((column) => row[column]!))
  return { row, differs: found }
}

/** A row, and which columns of the one with the same key differ from it. */
export interface Difference {
  row: Readonly<Record<string, SQLInputValue>>
  /** Undefined if there is no row with this key. */
  differs: Readonly<Record<string, unknown>> | undefined
}

/** Throws NotRestored unless the numbers are equal and no row differs. */
export function assertEqual(
  { name, key }: ArchiveTable,
  found: number,
  wanted: number,
  first: Difference | undefined,
): void {
  if (found === wanted && first === undefined) return
  const row = first && key.map((column) => textOf(first.row[column])).join(' ')
  const names = Object.entries(first?.differs ?? {}).flatMap(([of, isOther]) =>
    isOther ? [of] : [],
  )
  const where = names.length === 0 ? 'is on one side only' : `differs in ${names.join(', ')}`
  throw new NotRestored(
    `nothing was restored: the table ${name} has ${found} rows instead of ${wanted}` +
      (row === undefined ? '' : `, and the row ${row} ${where}`),
  )
}

const textOf = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : escapeInvisible(String(value))

export function countIn(database: DatabaseSync, rows: string): number {
  return Number(database.prepare(`SELECT count(*) AS count FROM ${rows}`).get()?.count)
}
