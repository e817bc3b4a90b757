import { existsSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { postgresTables, sqliteTables, type Tables } from '../tables.ts'

/** A file that does not exist yet and is deleted again. */
export function noSqliteFile(path: string): Tables {
  return {
    async dump() {
      if (!existsSync(path)) return new Map()
      const tables = sqliteTables(path)
      const database = new DatabaseSync(path)
      try {
        const schema = database.prepare('SELECT type, name, sql FROM sqlite_schema').all()
        return new Map([
          ...(await tables.dump()),
          ['schema', schema.map((row) => JSON.stringify(row))],
        ])
      } finally {
        database.close()
        await tables.close()
      }
    },

    async remember() {},

    async restore() {
      for (const ending of ['', '-wal', '-shm', '-serving', '-serving-journal'])
        rmSync(path + ending, { force: true })
    },

    async close() {},
  }
}

/** An empty database, which is emptied again. */
export async function emptyPostgresDatabase(url: string): Promise<Tables> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  return {
    async dump() {
      const tables = await postgresTables(url)
      const { rows } = await client.query(
        `SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`,
      )
      const relations = rows.map((row) => JSON.stringify(row))
      const dump = await tables.dump()
      await tables.close()
      return rows.length === 0 ? new Map() : dump.set('schema', relations)
    },

    async remember() {},

    async restore() {
      await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    },

    close: () => client.end(),
  }
}
