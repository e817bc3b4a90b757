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
import { emptySide, type Rows } from './model.ts'
import type { Place } from './world.ts'

interface UserRow {
  id: string
  email: string
  disabled: number | boolean
}

interface KeyRow {
  hash: string
  user_id: string
  revoked: number | boolean
}

const USERS = 'SELECT id, email, disabled_at IS NOT NULL AS disabled FROM users'
const KEYS = 'user_id, revoked_at IS NOT NULL AS revoked FROM api_keys'

function rowsOf(users: readonly UserRow[], keys: readonly KeyRow[]): Rows {
  return {
    users: new Map(
      users.map(({ id, email, disabled }) => [id, { email, isDisabled: Boolean(disabled) }]),
    ),
    keys: new Map(
      keys.map(({ hash, user_id, revoked }) => [
        hash,
        { userId: user_id, isRevoked: Boolean(revoked) },
      ]),
    ),
  }
}

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
    readRows: async () =>
      on((database) =>
        rowsOf(
          database.prepare(USERS).all() as unknown as UserRow[],
          database
            .prepare(`SELECT lower(hex(key_hash)) AS hash, ${KEYS}`)
            .all() as unknown as KeyRow[],
        ),
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
  const query = async <Row>(sql: string) =>
    asAdmin(url, async (client) => (await client.query(sql)).rows as Row[])
  return {
    engine: 'postgres',
    url,
    side: emptySide(),
    serve: () => openServingPostgresStore(url),
    async execute(sql) {
      await query(sql)
    },
    readRows: async () =>
      rowsOf(
        await query<UserRow>(USERS),
        await query<KeyRow>(`SELECT encode(key_hash, 'hex') AS hash, ${KEYS}`),
      ),
    readForeign: async () => JSON.stringify(await query('SELECT * FROM site.players ORDER BY id')),
  }
}
