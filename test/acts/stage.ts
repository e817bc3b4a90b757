import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { createAnswer } from '../../src/api/answer.ts'
import type { DatabaseConfig } from '../../src/config/database-url.ts'
import type { Database } from '../../src/database/database.ts'
import type { ServingStore } from '../../src/database/store.ts'
import { presentInstant } from '../../src/model/instant.ts'
import { openServingPostgresStore } from '../../src/postgres/store.ts'
import { openServingSqliteStore } from '../../src/sqlite/serving-store.ts'
import { migrateSqlite } from '../../src/sqlite/store.ts'
import { manualClock } from '../fixtures/clock.ts'
import { temporaryFolder } from '../fixtures/folder.ts'
import { createClockedDatabase } from '../fixtures/postgres/clock.ts'
import { asAdmin } from '../fixtures/postgres/database.ts'
import type { Server } from '../fixtures/postgres/server.ts'
import { postgresTables, sqliteTables } from '../reliability/fault-injection/tables.ts'
import { watchRows } from '../rows/watch.ts'
import { KEYS, keyOf, OPERATORS, sceneIn } from './scene.ts'

/** A served database with the rows of the scene. */
export interface Stage {
  url: string
  database(): Database
  /** The rows of the scene again, if an act has changed any. */
  restore(): Promise<void>
  /** Does the work. Returns its result, and what it has changed. `by` is the actor's address. */
  during<T>(by: string, work: () => Promise<T>): Promise<[result: T, rows: string[]]>
  /** What the API answers to each key, as `GET a: one three` or `GET a: 401`. */
  ask(): Promise<string[]>
}

/** An update that changes nothing fails, but for those of our own triggers. */
const WATCHED = ['users', 'organizations', 'members', 'servers']

export async function openSqliteStage(t: TestContext): Promise<Stage> {
  const path = join(temporaryFolder(t), 'listing.db')
  await migrateSqlite(path)
  const database = new DatabaseSync(path)
  const literals = {
    bytes: (hex: string) => `x'${hex}'`,
    instant: (iso: string) => String(Date.parse(iso) * 1_000),
  }
  database.exec(sceneIn(literals))
  for (const table of WATCHED) {
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all()
    const same = columns.map(({ name }) => `new.${String(name)} IS old.${String(name)}`)
    database.exec(`CREATE TRIGGER watched_${table} BEFORE UPDATE ON ${table}
      WHEN ${same.join(' AND ')} BEGIN SELECT raise(ABORT, 'a row of ${table} is written as it was'); END`)
  }
  database.close()
  const clock = manualClock()
  const tables = sqliteTables(path)
  await tables.remember()
  t.after(tables.close)
  return stageOf(t, { engine: 'sqlite', path }, `sqlite:${path}`, {
    elapse: async () => clock.elapse(1_001),
    open: () => openServingSqliteStore(path, clock),
    // A store that goes on would complete the journal of revocations again. Without the lock of an
    // earlier one, the next store waits for no claims.
    async restore(store) {
      await store.close()
      rmSync(`${path}-serving`)
      await tables.restore()
      return openServingSqliteStore(path, clock)
    },
  })
}

export async function openPostgresStage(t: TestContext, server: Server): Promise<Stage> {
  const { url, elapse } = await createClockedDatabase(t, server)
  const literals = {
    bytes: (hex: string) => `'\\x${hex}'`,
    instant: (iso: string) => `timestamptz '${iso}'`,
  }
  await asAdmin(url, async (client) => {
    await client.query(sceneIn(literals))
    await client.query('INSERT INTO operator_addresses SELECT unnest($1::text[])', [OPERATORS])
    await client.query(`CREATE FUNCTION refuse_same() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'a row of % is written as it was', TG_TABLE_NAME; END $$`)
    for (const table of [...WATCHED, 'api_keys'])
      await client.query(`CREATE TRIGGER watched_${table} BEFORE UPDATE ON ${table} FOR EACH ROW
        WHEN (OLD.* IS NOT DISTINCT FROM NEW.* AND pg_trigger_depth() = 0)
        EXECUTE FUNCTION refuse_same()`)
  })
  const tables = await postgresTables(url)
  await tables.remember()
  t.after(tables.close)
  return stageOf(t, { engine: 'postgres', url }, url, {
    elapse: () => elapse(1_001),
    open: () => openServingPostgresStore(url),
    async restore(store) {
      await tables.restore()
      return store
    },
  })
}

interface Engine {
  /** A second passes, so that each key is granted a claim. */
  elapse(): Promise<void>
  open(): Promise<ServingStore>
  /** Returns the store that serves the rows of the scene. */
  restore(store: ServingStore): Promise<ServingStore>
}

async function stageOf(
  t: TestContext,
  config: DatabaseConfig,
  url: string,
  { elapse, open, restore }: Engine,
): Promise<Stage> {
  let store = await open()
  t.after(() => store.close())
  const watch = await watchRows(t, config, {})
  const createApi = () => createAnswer({ store, onFault: (fault) => String(fault) })
  let answer = createApi()
  let isChanged = false
  return {
    url,
    database: () => store.database,
    async restore() {
      if (isChanged) store = await restore(store)
      if (isChanged) answer = createApi()
      isChanged = false
      watch.restart()
    },
    async during(by, work) {
      const start = presentInstant()
      const result = await work()
      // PostgreSQL's instants have microseconds.
      const changes = await watch.changes({ start, end: presentInstant() + 1_000 })
      const rows = changes.filter(isTold).map((line) => tellEntry(shortened(line), by))
      isChanged ||= rows.length > 0
      return [result, rows.toSorted(entriesLast).map((line) => `  ${line}`)]
    },
    async ask() {
      await elapse()
      isChanged = true
      return Promise.all(
        KEYS.map(async (name) => {
          const authorization = `Bearer ${keyOf(name)}`
          const request = { method: 'GET', path: '/v1/servers', authorization }
          const { status, body } = await answer(request)
          return `  GET ${name}: ${status === 200 ? namesIn(body) : status}`
        }),
      )
    },
  }
}

function namesIn(body: Buffer): string {
  const { servers } = JSON.parse(body.toString()) as { servers: { name: string }[] }
  return servers.map(({ name }) => shortened(name)).join(' ') || '-'
}

const TOLD =
  /^(?:users|identities|passwords|sessions|sign_in_links|organizations|members|servers|server_changes|checked_imports|api_keys|revoked_hashes|audit_log) /
/** The API's answers show `disabled_at`, and only PostgreSQL has `slot`. */
const OF_TRIGGERS = /^api_keys (?:~ \S+: (?:disabled_at|slot) [^,]*|\+ \S+ slot=\d)$/

const isTold = (line: string) =>
  TOLD.test(line) && !OF_TRIGGERS.test(line) && !line.includes('action="state applied"')

/** Writes a repeated character as documents do. */
const shortened = (line: string) =>
  line.replaceAll(/(.)\1{49,}/gu, (all, one: string) => `${one}{${[...all].length}}`)

const ENTRY =
  /^audit_log \+ (.+) occurred_at=now (?:user_id=("[^"]*"|\S+) )?action="([^"]*)" address="?([^"]*)"?$/

/** An entry of this actor, in short. */
function tellEntry(line: string, by: string): string {
  const [, subject = '', user = '', action = '', address] = ENTRY.exec(line) ?? []
  if (address !== by) return line
  return `audit ${user}: ${action} ${subject}`.replaceAll('"', '').trimEnd()
}

const isEntry = (line: string) => line.startsWith('audit ')

function entriesLast(one: string, other: string): number {
  if (isEntry(one) && isEntry(other)) return one < other ? -1 : 1
  return Number(isEntry(one)) - Number(isEntry(other))
}
