import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { openServingPostgresStore } from '../../../src/postgres/store.ts'
import { openServingSqliteStore } from '../../../src/sqlite/serving-store.ts'
import { migrateSqlite } from '../../../src/sqlite/store.ts'
import { temporaryFolder } from '../../fixtures/folder.ts'
import { asAdmin } from '../../fixtures/postgres/database.ts'
import { createMigratedDatabase } from '../../fixtures/postgres/migrated.ts'
import type { Server } from '../../fixtures/postgres/server.ts'
import { emptySide } from './model.ts'
import type { Place } from './world.ts'

/** A file with a table of another program. */
export async function sqlitePlace(t: Pick<TestContext, 'after'>): Promise<Place> {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const on = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(path, { timeout: 5_000 })
    try {
      return work(database)
    } finally {
      database.close()
    }
  }
  on((database) =>
    database.exec(`CREATE TABLE shop (note TEXT); INSERT INTO shop VALUES ('one'), ('two')`),
  )
  return {
    engine: 'sqlite',
    url: `sqlite:${path}`,
    side: emptySide(),
    serve: () => openServingSqliteStore(path),
    execute: async (sql) => on((database) => database.exec(sql)),
    readList: async () =>
      on((database) =>
        database
          .prepare('SELECT lower(hex(key_hash)) AS hash FROM revoked_hashes')
          .all()
          .map(({ hash }) => String(hash)),
      ),
    readForeign: async () =>
      on((database) => {
        const found = database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'shop'`).get()
        if (found === undefined) return null
        return JSON.stringify(database.prepare('SELECT rowid, note FROM shop').all())
      }),
  }
}

/** A database with a schema of another program beside ours. */
export async function postgresPlace(server: Server): Promise<Place> {
  const url = await createMigratedDatabase(server)
  await asAdmin(url, (client) =>
    client.query(`
      CREATE SCHEMA site;
      CREATE TABLE site.players (id int PRIMARY KEY, name text);
      INSERT INTO site.players VALUES (1, 'one'), (2, 'two')`),
  )
  const query = (sql: string) =>
    asAdmin(url, async (client) => (await client.query(sql)).rows as unknown[])
  return {
    engine: 'postgres',
    url,
    side: emptySide(),
    serve: () => openServingPostgresStore(url),
    async execute(sql) {
      await query(sql)
    },
    readList: async () =>
      (
        (await query("SELECT encode(key_hash, 'hex') AS hash FROM revoked_hashes")) as {
          hash: string
        }[]
      ).map(({ hash }) => hash),
    readForeign: async () => JSON.stringify(await query('SELECT * FROM site.players ORDER BY id')),
  }
}
