import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import { parseInstant } from '../../../../src/listing/instant.ts'
import type { Ended } from '../../../cli/command.ts'
import type { Begun } from '../../../cli/process.ts'
import { type Program, programIn } from '../../../cli/program.ts'
import type { Cluster } from '../../../fixtures/postgres/cluster.ts'
import { asAdmin, createDatabase } from '../../../fixtures/postgres/database.ts'

/** The command `copy` between a file with one of everything and its own database on the cluster. */
export interface Ledger {
  program: Program
  url: string
  /** Options that make the program work on PostgreSQL. */
  onPostgres: { env: Record<string, string> }
  copy(): Promise<Ended>
  beginCopy(): Begun
  inFile<T>(body: (database: DatabaseSync) => T): T
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  asAdmin<T>(body: (client: pg.Client) => Promise<T>): Promise<T>
  /** The number of rows in the copied tables. */
  countTarget(): Promise<number>
}

export const ADA = 'ada@example.com'

/** On the database `url`, by default on a new one. */
export async function ledgerOn(t: TestContext, cluster: Cluster, url?: string): Promise<Ledger> {
  return ledger(programIn(t), url ?? (await createDatabase(cluster)))
}

function ledger(program: Program, url: string): Ledger {
  const onPostgres = { env: { DATABASE_URL: url } }
  const command = `copy --from sqlite:${program.databasePath}`
  const query: Ledger['query'] = (sql, values) =>
    asAdmin(url, async (client) => (await client.query(sql, values)).rows)
  return {
    program,
    url,
    onPostgres,
    copy: () => program.run(command, onPostgres),
    beginCopy: () => program.begin(command, onPostgres),
    query,
    asAdmin: (body) => asAdmin(url, body),

    inFile(body) {
      const database = new DatabaseSync(program.databasePath)
      try {
        return body(database)
      } finally {
        database.close()
      }
    },

    async countTarget() {
      const [row] = await query(
        `SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM organizations) +
           (SELECT count(*) FROM servers) + (SELECT count(*) FROM api_keys) AS count`,
      )
      return Number(row?.count)
    },
  }
}

/** A user with servers, some in an organization, and two keys, the second one revoked. */
export async function addAda({ program }: Ledger): Promise<{ key: string; revoked: string }> {
  await program.done(`user add ${ADA} --create`)
  const stdin = '[{"name":"Survival","address":"play.example.com"}]'
  await program.done(`server import --user ${ADA} -`, { stdin })
  await program.done(`server import --user ${ADA} --organization red-stone -`, { stdin })
  const key = await program.done(`key issue --user ${ADA} --name bot`)
  const revoked = await program.done(`key issue --user ${ADA} --name gone`)
  await program.done('key revoke --key-stdin', { stdin: revoked })
  return { key, revoked }
}

/** Another user, whose servers have all values that a column can hold and a program might alter. */
export function addOddServers(database: DatabaseSync): void {
  const userId = randomUUID()
  database
    .prepare('INSERT INTO users VALUES (?, ?, ?, 1, ?, ?, ?)')
    .run(userId, 'odd@example.com', '', '', '2026-01-31T13:00:00.5+01:00', '1969-12-31T23:59:59Z')
  const insert = database.prepare(`
    INSERT INTO servers (id, created_by, name, slug, host_label, version, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
  `)
  const texts = ['é😀\u0001', '"quoted" \\ {braces, NULL}', 'NULL', '', '~', '3:a;~', '\n', '​']
  const instants = [
    1_769_860_800_123_457n,
    -1n,
    0n,
    9_007_199_254_740_993n,
    253_402_300_799_999_999n,
  ]
  for (const [index, text] of texts.entries())
    insert.run(
      randomUUID(),
      userId,
      text,
      index % 2 === 0 ? null : text,
      text,
      index % 3 === 0 ? text : null,
      instants[index % instants.length]!,
    )
}

/** More keys than fit in one batch. */
export function addManyKeys(database: DatabaseSync, users: number): void {
  database.exec('BEGIN')
  const addUser = database.prepare('INSERT INTO users VALUES (?, ?, ?, 0, NULL, ?, ?)')
  const addKey = database.prepare(`
    INSERT INTO api_keys (id, user_id, name, prefix, key_hash, created_at, slot)
    VALUES (?, ?, 'bot', 'svc_live_0000000', randomblob(32), ?, ?)
  `)
  for (let user = 0; user < users; user += 1) {
    const id = randomUUID()
    const at = '2026-01-31T12:00:00.000001Z'
    addUser.run(id, `user${user}@example.com`, 'name', at, at)
    for (let slot = 1; slot <= 5; slot += 1) addKey.run(randomUUID(), id, user, slot)
  }
  database.exec('COMMIT')
}

/** Columns that JSON would lose part of, as text without loss. */
const instant = (column: string) =>
  `'${column}', (extract(epoch FROM ${column}) * 1000000)::bigint::text`
const TEXTS: Record<string, string> = {
  users: `${instant('created_at')}, ${instant('updated_at')}`,
  servers: instant('updated_at'),
  api_keys: `${instant('created_at')}, ${instant('revoked_at')}, ${instant('last_used_at')}, 'key_hash', encode(key_hash, 'hex')`,
}

/** SQL for a table's rows as JSON, ordered by id. */
export function rowsQuery(table: string): string {
  return `SELECT to_jsonb(copied) || jsonb_build_object(${TEXTS[table] ?? ''}) AS row FROM ${table} AS copied ORDER BY id`
}

/** The rows in the file, in the form that the query gives them. */
export function rowsInFile(database: DatabaseSync, table: string): object[] {
  const select = database.prepare(
    table === 'api_keys'
      ? `SELECT id, user_id, name, api_keys.prefix, lower(hex(key_hash)) AS key_hash, created_at, revoked_at,
           last_used_at, CAST(slot AS TEXT) AS slot
         FROM api_keys JOIN api_key_uses ON api_key_id = id ORDER BY id`
      : `SELECT * FROM ${table} ORDER BY id`,
  )
  select.setReadBigInts(true)
  return select.all().map((row) => {
    const fields = Object.entries(row).map(([name, value]) => {
      if (name === 'slot') return [name, Number(value)]
      if (typeof value === 'bigint')
        return [name, name.endsWith('_at') ? String(value) : value === 1n]
      if (table === 'users' && name.endsWith('_at'))
        return [name, String(parseInstant(String(value)))]
      return [name, value]
    })
    return Object.fromEntries(fields)
  })
}
