import type { TestContext } from 'node:test'
import pg from 'pg'
import { migratePostgres } from '../../../src/postgres/store.ts'
import { asAdmin, createDatabase, removeDatabase } from '../../fixtures/postgres/database.ts'
import type { Server } from '../../fixtures/postgres/server.ts'

/** What an act answers. */
export interface Answer {
  added?: number
  changed?: number
  removed?: number
  revoked?: number
  banned?: number
  refused: { row: number; reason: string }[]
}

const ACTS = [
  'keys_of(text)',
  ...['users', 'servers'].map((noun) => `put_${noun}(jsonb, boolean)`),
  ...['put_organizations', 'put_members', 'put_keys', 'revoke_keys'].map((act) => `${act}(jsonb)`),
  ...['servers', 'members', 'organizations', 'users'].map((noun) => `remove_${noun}(jsonb)`),
]

/** A database of a site, whose role has the rights of an adopted site and no others. */
export interface Site {
  /** The URL of the service's role. */
  url: string
  adminUrl: string
  /** The service's. */
  schema: string
  /** Calls an act as the site's role. */
  call(act: string, rows: unknown, all?: boolean): Promise<Answer>
  /** Runs SQL as the site's role, in which `listing` and `site` are the names of the roles. */
  query(sql: string, values?: unknown[]): Promise<pg.QueryResult>
  /** The same as the service's role, on another connection. */
  own(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** Another connection of the site's role. */
  connect(): Promise<pg.Client>
}

/** The site owns the database, and the service has a schema in it. */
export async function openSite(
  t: Pick<TestContext, 'after'>,
  server: Pick<Server, 'url'>,
): Promise<Site> {
  const admin = await createDatabase(server)
  const database = new URL(admin).pathname.slice(1)
  const named = (text: string) => text.replaceAll(/(?<![\w-])(listing|site)\b/g, `$1_${database}`)
  const [listing, site] = [named('listing'), named('site')]
  const urlOf = (role: string) => admin.replace('postgres:secret', `${role}:secret`)
  const clients: pg.Client[] = []
  async function connect(url: string): Promise<pg.Client> {
    const client = new pg.Client(url)
    client.on('error', () => {})
    await client.connect()
    clients.push(client)
    return client
  }
  t.after(async () => {
    await Promise.all(clients.map((client) => client.end()))
    await removeDatabase(server, admin)
    await asAdmin(server.url(), (root) => root.query(`DROP ROLE IF EXISTS ${site}, ${listing}`))
  })
  await asAdmin(admin, (root) =>
    root.query(`
      CREATE ROLE ${listing} LOGIN PASSWORD 'secret'; CREATE ROLE ${site} LOGIN PASSWORD 'secret';
      ALTER DATABASE ${database} OWNER TO ${site}; CREATE SCHEMA AUTHORIZATION ${listing}`),
  )
  await migratePostgres(urlOf(listing))
  const owner = await connect(urlOf(listing))
  await owner.query(`GRANT USAGE ON SCHEMA ${listing} TO ${site}`)
  for (const act of ACTS) await owner.query(`GRANT EXECUTE ON FUNCTION ${act} TO ${site}`)
  const client = await connect(urlOf(site))
  return {
    url: urlOf(listing),
    adminUrl: admin,
    schema: listing,
    async call(act, rows, all = false) {
      const given = [JSON.stringify(rows)]
      const { rows: answers } = await client.query(
        `SELECT ${listing}.${act}($1${all ? ', true' : ''}) AS answer`,
        given,
      )
      return answers[0].answer
    },
    query: (sql, values) => client.query(named(sql), values),
    own: async (sql, values) => (await owner.query(sql, values)).rows,
    connect: () => connect(urlOf(site)),
  }
}

/** The SHA-256 of a made-up key, in hex. */
export const hashOf = (key: string) => key.charCodeAt(0).toString(16).padStart(64, '0')

/** A UUID of a made-up server. */
export const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
