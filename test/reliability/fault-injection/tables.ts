import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

/** All rows as JSON, by table. */
export type Dump = Map<string, string[]>

/** Reads and restores the content of a database, without the tested code. */
export interface Tables {
  dump(): Promise<Dump>
  /** Saves the present content. */
  remember(): Promise<void>
  /** Restores the saved content. */
  restore(): Promise<void>
  close(): Promise<void>
}

export function sqliteTables(path: string): Tables {
  const database = new DatabaseSync(path, { timeout: 1_000, enableForeignKeyConstraints: false })
  database.exec('PRAGMA synchronous = OFF')
  const names = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .all()
    .map(({ name }) => String(name))
  const journal = journalBeside(path)
  const selects = names.map((name) => [name, database.prepare(`SELECT * FROM "${name}"`)] as const)
  // It changes with each commit of another connection.
  const version = database.prepare('PRAGMA data_version')
  let restored: unknown
  let read: { at: unknown; dump: Dump } | null = null
  return {
    async dump() {
      const at = version.get()?.data_version
      if (read?.at === at) return read!.dump
      const dump: Dump = new Map(
        selects.map(([name, select]) => [name, select.all().map(toText).toSorted()]),
      )
      read = { at, dump }
      return dump
    },

    async remember() {
      journal.remember()
      database.exec(`ATTACH ':memory:' AS remembered`)
      for (const name of names)
        database.exec(`CREATE TABLE remembered."_${name}" AS SELECT * FROM main."${name}"`)
      restored = version.get()?.data_version
    },

    async restore() {
      journal.restore()
      if (version.get()?.data_version === restored) return
      read = null
      // Without the triggers, which refuse to empty the list of revoked hashes.
      const found = database.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
      const triggers = found.all() as { name: string; sql: string }[]
      const drops = triggers.map(({ name }) => `DROP TRIGGER main."${name}";`)
      const copies = names.map(
        (name) =>
          `DELETE FROM main."${name}"; INSERT INTO main."${name}" SELECT * FROM remembered."_${name}";`,
      )
      const creates = triggers.map(({ sql }) => `${sql};`)
      database.exec(`BEGIN IMMEDIATE; ${[...drops, ...copies, ...creates].join('\n')} COMMIT`)
      restored = version.get()?.data_version
    },

    async close() {
      database.close()
    },
  }
}

/** Like `sqliteTables`, for an operation that may replace the file itself. */
export function sqliteFile(path: string): Tables {
  const saved = `${path}.saved`
  const journal = journalBeside(path)
  return {
    async dump() {
      const tables = sqliteTables(path)
      const dump = await tables.dump()
      await tables.close()
      return dump
    },

    async remember() {
      journal.remember()
      const database = new DatabaseSync(path)
      database.prepare('VACUUM INTO ?').run(saved)
      database.close()
    },

    async restore() {
      for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
      copyFileSync(saved, path)
      journal.restore()
    },

    async close() {},
  }
}

/** The journal would revoke again what a test has restored to active. */
function journalBeside(path: string) {
  const journal = `${path}-revoked`
  let saved = ''
  return {
    remember() {
      saved = existsSync(journal) ? readFileSync(journal, 'latin1') : ''
    },
    restore: () => writeFileSync(journal, saved, 'latin1'),
  }
}

function toText(row: object): string {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value,
  ])
  return JSON.stringify(Object.fromEntries(entries))
}

export async function postgresTables(url: string, schema = 'public'): Promise<Tables> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  await client.query(`SET search_path = ${schema}`)
  const { rows } = await client.query(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r' AND relname <> 'name_locks' ORDER BY 1`,
  )
  const names = rows.map(({ name }) => String(name)).toSorted(lastWritten)
  const dumps = names.map(
    (name) =>
      `SELECT '${name}' AS name, coalesce(array_agg(to_jsonb(t)::text ORDER BY to_jsonb(t)::text), '{}') AS rows FROM "${name}" AS t`,
  )
  const copies = names.map(
    (name) => `DELETE FROM "${name}"; INSERT INTO "${name}" SELECT * FROM remembered."${name}";`,
  )
  return {
    async dump() {
      if (dumps.length === 0) return new Map()
      const found = await client.query<{ name: string; rows: string[] }>(dumps.join(' UNION ALL '))
      return new Map(found.rows.map(({ name, rows }) => [name, rows]))
    },

    async remember() {
      const made = names.map((name) => `CREATE TABLE remembered."${name}" AS TABLE "${name}";`)
      await client.query(
        `DROP SCHEMA IF EXISTS remembered CASCADE; CREATE SCHEMA remembered; ${made.join(' ')}`,
      )
    },

    async restore() {
      // A replica role disables foreign keys and most triggers.
      await client.query(
        `BEGIN; SET LOCAL session_replication_role = replica; ${copies.join(' ')} COMMIT`,
      )
    },

    close: () => client.end(),
  }
}

/** Restored last, because triggers write to this table while others are restored. */
function lastWritten(a: string, b: string): number {
  return Number(a === 'listing_revisions') - Number(b === 'listing_revisions')
}
