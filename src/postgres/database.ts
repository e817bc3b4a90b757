import pg from 'pg'
import { NotConfigured } from '../listing/faults.ts'
import { type Hosts, hostsOf } from './hosts.ts'

/** Connections of one process: two decide uses. The dashboard has as many of its own. */
const CONNECTIONS_MAX = 4
/** Until a connection is made, or one is free; then the next host is tried. In milliseconds. */
const CONNECT_MS = 500
/** How long others are waited for, in milliseconds; 0 is for ever. */
interface Patience {
  /** What the server lets a statement take, and of that a wait for somebody else's lock. */
  statementMs: number
  lockMs: number
  /** What we let it take, should the server not be heard of at all. */
  queryMs: number
  /** What a connection may take, be it made or waited for, instead of CONNECT_MS. */
  connectMs?: number
}

/** A service's: somebody waits for each of its answers. */
export const SERVING: Patience = { statementMs: 800, lockMs: 100, queryMs: 1_000 }
/** The dashboard's, whose pages people wait for. */
export const MANAGING: Patience = {
  statementMs: 3_000,
  lockMs: 2_000,
  queryMs: 4_000,
  connectMs: 3_000,
}
/** A command's, which may meet a long transaction, and write a part of a long list in one. */
export const COMMAND: Patience = { statementMs: 60_000, lockMs: 10_000, queryMs: 61_000 }
/** A migration's, which takes what it takes, and so does waiting for another process's. */
export const ENDLESS: Patience = { statementMs: 0, lockMs: 0, queryMs: 0 }

/** The oldest server that the tests run on. */
const SERVER_VERSION_MIN = 150_000

/*
 * Set on every connection and not left to the role's or the database's defaults: the rules of `uses.ts` hold at READ
 * COMMITTED, and nothing is answered before it would survive a crash.
 */
const SESSION = {
  idle_in_transaction_session_timeout: '2000',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  synchronous_commit: 'on',
}

export interface Database {
  /** A connection to the primary, to be given back with `release`, and with the error if one came of it. */
  acquire(): Promise<pg.PoolClient>
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>
  /** Runs `body` as one transaction. */
  transact<T>(body: (client: pg.ClientBase) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Nothing is connected yet: that happens with the first query, and again with the first one after a failure. */
export function openDatabase(url: string, patience: Patience): Database {
  const hosts = hostsOf(url)
  const pool = new pg.Pool({
    Client: clientFor(hosts),
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: patience.connectMs ?? CONNECT_MS,
    query_timeout: patience.queryMs,
    keepAlive: true,
    pipeline: true,
    application_name: 'server-listing',
    verify: (client: pg.PoolClient, done: (error?: Error) => void) => {
      beginSession(client, patience).then(() => done(), done)
    },
  })
  // An idle connection that is lost would end the process if nobody heard of it. The pool replaces it.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  let closed: Promise<void> | null = null

  async function acquire(hostsLeft = hosts.count): Promise<pg.PoolClient> {
    const host = hosts.current()
    try {
      return await pool.connect()
    } catch (error) {
      if (isRefusal(error) || hostsLeft <= 1) throw error
      hosts.avoid(host)
      return acquire(hostsLeft - 1)
    }
  }

  async function withClient<T>(body: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await acquire()
    try {
      const result = await body(client)
      client.release()
      return result
    } catch (error) {
      client.release(error instanceof pg.DatabaseError ? undefined : true)
      throw error
    }
  }

  return {
    acquire: () => acquire(),

    query: <Row>(text: string, values?: unknown[]) =>
      withClient(async (client) => (await client.query(text, values)).rows as Row[]),

    transact: (body) =>
      withClient(async (client) => {
        await client.query('BEGIN')
        try {
          const result = await body(client)
          await client.query('COMMIT')
          return result
        } catch (error) {
          await client.query('ROLLBACK').catch(() => {})
          throw error
        }
      }),

    close: () => (closed ??= pool.end()),
  }
}

/** A client class whose next instance connects to the host that is believed to be the primary. */
function clientFor(hosts: Hosts): typeof pg.Client {
  return class extends pg.Client {
    constructor(config: pg.ClientConfig) {
      super({ ...config, connectionString: hosts.current() })
    }
  }
}

/** Sets the session up, and makes sure that it is one with a primary. */
async function beginSession(client: pg.ClientBase, patience: Patience): Promise<void> {
  const timeouts = { statement_timeout: patience.statementMs, lock_timeout: patience.lockMs }
  const settings = Object.entries({ ...SESSION, ...timeouts }).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  )
  const { rows } = await client.query(`
    SELECT pg_is_in_recovery() AS is_standby, current_setting('server_version_num')::int AS version,
      ${settings.join(', ')}
  `)
  if (rows[0].version < SERVER_VERSION_MIN)
    throw new NotConfigured('the PostgreSQL server is older than version 15')
  if (rows[0].is_standby) throw new Error('the server is a standby, and only a primary is used')
}

/** Whether the server was reached and will not have us, so that another host would say the same. */
function isRefusal(error: unknown): boolean {
  return error instanceof NotConfigured || refusalOf(error) !== null
}

/** A failure that will not pass by itself, as the sentence an operator needs; null for any other error. */
export function unusable(error: unknown): NotConfigured | null {
  if (error instanceof NotConfigured) return error
  const reason = refusalOf(error)
  return reason === null
    ? null
    : new NotConfigured(`cannot use the database of DATABASE_URL: ${reason}`, { cause: error })
}

/** Where the server says that somebody lacks a right: with the same code it says that its disk refused it a file. */
const RIGHTS = ['aclcheck_error', 'CheckMyDatabase']

function refusalOf(error: unknown): string | null {
  const { code, routine = '' } = (error ?? {}) as { code?: unknown; routine?: string }
  switch (code) {
    case '28P01':
      return 'the server refuses the user name or the password'
    case '28000':
      return 'the server does not let this user in from here'
    case '3D000':
      return 'the server has no database of that name'
    case '42501':
      return RIGHTS.includes(routine) ? 'this user lacks a right there' : null
    case 'ENOENT':
    case 'EACCES':
      return `${(error as Error).message}, a file that DATABASE_URL names`
    default:
      return null
  }
}
