import type { DatabaseSync } from 'node:sqlite'
import { transact } from '../sqlite/database.ts'
import type { Revocations } from '../listing/accounts/revocations.ts'
import { NotRestored, TABLES } from './archive.ts'
import { columnsOf, ownTriggers } from './foreign.ts'
import { CLEARED, USES } from './sqlite-backup.ts'

/*
 * These functions take a connection to the database that is restored. It has the archive attached
 * as `archive`.
 */

/** Keys that are active in the archive, and that a list of revoked hashes has. */
export function countRevoked(
  database: DatabaseSync,
  lists: readonly Revocations[],
  hasTables: boolean,
): number {
  fillListed(database, lists)
  const present = hasTables ? 'OR key_hash IN (SELECT key_hash FROM main.revoked_hashes)' : ''
  const row = database
    .prepare(
      `SELECT count(*) AS count FROM archive.api_keys WHERE revoked_at IS NULL
       AND (key_hash IN (SELECT key_hash FROM temp.listed) ${present})`,
    )
    .get()
  return Number(row?.count)
}

/** A temporary table of all revoked hashes that the database may lack. */
function fillListed(database: DatabaseSync, lists: readonly Revocations[]): void {
  database.exec(`
    DROP TABLE IF EXISTS temp.listed;
    CREATE TEMP TABLE listed (key_hash BLOB PRIMARY KEY, revoked_at INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO temp.listed SELECT key_hash, revoked_at FROM archive.revoked_hashes`)
  const insert = database.prepare('INSERT OR IGNORE INTO temp.listed VALUES (unhex(?), ?)')
  for (const list of lists) for (const [hash, at] of list) insert.run(hash, at)
}

/**
 * Makes the tables equal to those of the archive, in one transaction. Unites the list of revoked
 * hashes, last uses and disabled users. The operator's own tables and indexes stay.
 */
export function replaceTables(database: DatabaseSync, lists: readonly Revocations[]): void {
  const triggers = ownTriggers()
  // A reference would make SQLite delete and insert row by row. Only outside a transaction.
  database.exec('PRAGMA foreign_keys = OFF')
  transact(database, () => {
    fillListed(database, lists)
    noteUnited(database)
    for (const { name } of triggers) database.exec(`DROP TRIGGER IF EXISTS main."${name}"`)
    for (const table of [...CLEARED, 'older_uses']) database.exec(`DELETE FROM main.${table}`)
    for (const { name } of REPLACED) replaceTable(database, name)
    database.exec(UNITE)
    for (const { sql } of triggers) database.exec(sql)
    assertEqual(database)
  })
}

/** The list of revoked hashes only grows. */
const REPLACED = TABLES.filter(({ name }) => name !== 'revoked_hashes')

/** Keeps what a restore unites. A key is its hash: serials are numbers of one file. */
function noteUnited(database: DatabaseSync): void {
  database.exec(`
    DROP TABLE IF EXISTS temp.last;
    CREATE TEMP TABLE last (key_hash BLOB PRIMARY KEY, used_at INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO temp.last ${lastUses('main')};
    INSERT INTO temp.last SELECT * FROM (${lastUses('archive')}) WHERE true
      ON CONFLICT DO UPDATE SET used_at = max(used_at, excluded.used_at);
    DROP TABLE IF EXISTS temp.disabled;
    CREATE TEMP TABLE disabled AS
      SELECT id, disabled_at FROM main.users WHERE disabled_at IS NOT NULL`)
}

function lastUses(schema: 'main' | 'archive'): string {
  return `
    SELECT key_hash, max(used_at) FROM (${USES.replaceAll('FROM ', `FROM ${schema}.`)})
    JOIN ${schema}.api_keys ON serial = api_key GROUP BY serial`
}

function replaceTable(database: DatabaseSync, table: string): void {
  const own = columnsOf(database, table)
  // SQLite copies pages instead of rows if the columns need no list.
  const isSame = own.join() === columnsOf(database, table, 'archive').join()
  const [into, columns] = isSame ? ['', '*'] : [`(${own.join(', ')})`, own.join(', ')]
  database.exec(`
    DELETE FROM main.${table};
    INSERT INTO main.${table} ${into} SELECT ${columns} FROM archive.${table}`)
}

/** The triggers are dropped meanwhile, so this states what they would do. */
const UNITE = `
  INSERT INTO main.revoked_hashes (key_hash, revoked_at)
    SELECT key_hash, revoked_at FROM temp.listed
    WHERE key_hash NOT IN (SELECT key_hash FROM main.revoked_hashes);
  INSERT INTO main.revoked_hashes (key_hash, revoked_at)
    SELECT key_hash, revoked_at FROM main.api_keys WHERE revoked_at IS NOT NULL
    AND key_hash NOT IN (SELECT key_hash FROM main.revoked_hashes);
  UPDATE main.api_keys SET revoked_at = (
    SELECT revoked_at FROM main.revoked_hashes AS list WHERE list.key_hash = api_keys.key_hash
  ) WHERE revoked_at IS NULL AND key_hash IN (SELECT key_hash FROM main.revoked_hashes);
  INSERT INTO main.older_uses
    SELECT serial, used_at FROM main.api_keys JOIN temp.last USING (key_hash);
  UPDATE main.users SET disabled_at = (SELECT disabled_at FROM temp.disabled WHERE id = users.id)
    WHERE disabled_at IS NULL AND id IN (SELECT id FROM temp.disabled);
  UPDATE main.api_keys SET disabled_at = (SELECT disabled_at FROM main.users WHERE id = user_id)
    WHERE user_id IN (SELECT id FROM main.users WHERE disabled_at IS NOT NULL)`

/** What a restore unites need not be as the archive has it. */
const UNITED = ['users.disabled_at', 'api_keys.disabled_at', 'api_keys.revoked_at']

/** Throws NotRestored if a table differs. Equal numbers and no strange row are equal tables. */
function assertEqual(database: DatabaseSync): void {
  for (const { name, columns, key } of REPLACED) {
    const compared = Object.keys(columns).filter((one) => !UNITED.includes(`${name}.${one}`))
    const isSame = compared
      .map((one) => `theirs.${one} ${key.includes(one) ? '=' : 'IS'} own.${one}`)
      .join(' AND ')
    const row = database
      .prepare(
        `SELECT (SELECT count(*) FROM main.${name}) AS restored,
           (SELECT count(*) FROM archive.${name}) AS given,
           (SELECT count(*) FROM main.${name} AS own
             WHERE NOT EXISTS (SELECT 1 FROM archive.${name} AS theirs WHERE ${isSame})) AS strange`,
      )
      .get()
    if (row?.restored !== row?.given || row?.strange !== 0)
      throw new NotRestored(
        `nothing was restored: ${name} has ${Number(row?.restored)} rows instead of ` +
          `${Number(row?.given)}, and ${Number(row?.strange)} of them are not the archive's`,
      )
  }
}
