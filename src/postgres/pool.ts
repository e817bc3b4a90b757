import pg from 'pg'
import { NotConfigured } from '../model/faults.ts'
import { type Backend, OWN_BACKEND } from './abandoned.ts'
import { type Attempt, clientFor, type Hosts } from './hosts.ts'
import type { Patience } from './patience.ts'
import { assertKeepsBackend } from './pooler.ts'
import { NO_SCHEMA } from './refusals.ts'

/** The oldest server that the tests run on. */
const SERVER_VERSION_MIN = 150_000

/*
 * Set on each connection, because a role or a database may have other defaults. The rules of
 * `claims/claim-statements.ts` need READ COMMITTED, and an acknowledged change must survive a
 * crash. If an operator adds row-level security that concerns the service's role, the service fails
 * rather than miss rows. Compiling a statement takes longer than our time limits.
 * `default_transaction_read_only` stays as it is: it freezes a database.
 */
const SESSION = {
  idle_in_transaction_session_timeout: '2000',
  default_transaction_isolation: 'read committed',
  synchronous_commit: 'on',
  row_security: 'off',
  jit: 'off',
}

/*
 * Our schema: the first one of the path that has a ledger of our own, else the first one. Another
 * role could give its ledger to a group of both. Until the path is pinned, functions, operators and
 * tables of other roles could stand before PostgreSQL's own, so each name here says its schema.
 */
const OUR_SCHEMA = `coalesce((
  SELECT place.name FROM pg_catalog.unnest(pg_catalog.current_schemas(false))
    WITH ORDINALITY AS place (name, number)
  JOIN pg_catalog.pg_namespace AS schema ON schema.nspname OPERATOR(pg_catalog.=) place.name
  JOIN pg_catalog.pg_class AS ledger ON ledger.relnamespace OPERATOR(pg_catalog.=) schema.oid
  JOIN pg_catalog.pg_attribute AS attribute ON attrelid OPERATOR(pg_catalog.=) ledger.oid
  WHERE relname OPERATOR(pg_catalog.=) 'schema_migrations'::pg_catalog.name
    AND attname OPERATOR(pg_catalog.=) 'program_min'::pg_catalog.name
    AND pg_catalog.pg_get_userbyid(relowner) OPERATOR(pg_catalog.=) current_user
  ORDER BY number LIMIT 1
), pg_catalog.current_schema())`
const PINNED_PATH = `pg_catalog.quote_ident(schema) OPERATOR(pg_catalog.||) ', pg_temp'::pg_catalog.text`

/** `onSession` gets each new connection and its backend. */
export function createPool(
  hosts: Hosts,
  patience: Patience,
  max: number,
  onSession: (client: pg.ClientBase, backend: Backend) => void,
): pg.Pool {
  const attempts = new WeakMap<pg.ClientBase, Attempt>()
  const pool = new pg.Pool({
    Client: clientFor(hosts, (client, attempt) => attempts.set(client, attempt)),
    max,
    connectionTimeoutMillis: patience.connectMs,
    query_timeout: patience.queryMs,
    keepAlive: true,
    pipeline: true,
    application_name: 'server-listing',
    verify: (client: pg.PoolClient, done: (error?: Error) => void) => {
      beginSession(client, attempts.get(client)!, patience)
        .then((backend) => onSession(client, backend))
        .then(() => done(), done)
    },
  })
  // Without a listener, the loss of an idle connection would end the process. The pool replaces it.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/**
 * Sets up the session and checks that it is on a primary. Behind a pooler it first checks that the
 * session keeps its backend. Otherwise a setting would change another program's session.
 */
async function beginSession(
  client: pg.ClientBase,
  attempt: Attempt,
  patience: Patience,
): Promise<Backend> {
  // PostgreSQL tells each client the id of its backend, and a pooler makes one up.
  const { processID: announcedPid } = client as unknown as { processID: number | null }
  const backend = await setUp(client, patience, announcedPid)
  if (backend.pid === announcedPid) return backend
  await assertKeepsBackend(client, attempt, patience)
  return setUp(client, patience, backend.pid)
}

/** Checks the session, and sets it up if it is on this backend. */
async function setUp(
  client: pg.ClientBase,
  patience: Patience,
  expectedPid: number | null,
): Promise<Backend> {
  const timeouts = { statement_timeout: patience.statementMs, lock_timeout: patience.lockMs }
  const settings = Object.entries({ ...SESSION, ...timeouts }).map(
    ([name, value]) => `pg_catalog.set_config('${name}', '${value}', false)`,
  )
  const { rows } = await client.query(
    `SELECT pg_catalog.pg_is_in_recovery() AS is_standby, schema, own.*,
      pg_catalog.current_setting('server_version_num')::int AS version,
      pg_catalog.current_setting('server_encoding') AS encoding,
      pg_catalog.current_setting('session_replication_role') AS replication_role,
      CASE WHEN own.pid OPERATOR(pg_catalog.=) $1 THEN
        ARRAY[${settings.join(', ')}, pg_catalog.set_config('search_path', ${PINNED_PATH}, false)]
      END
    FROM (${OWN_BACKEND}) AS own CROSS JOIN (SELECT ${OUR_SCHEMA} AS schema) AS found`,
    [expectedPid],
  )
  const { version, encoding, schema, is_standby: isStandby, replication_role: role } = rows[0]
  if (version < SERVER_VERSION_MIN)
    throw new NotConfigured('the PostgreSQL server is older than version 15')
  if (encoding !== 'UTF8')
    throw new NotConfigured(
      `the encoding of the database is ${encoding}, which cannot hold every name; create it with ENCODING 'UTF8' TEMPLATE template0`,
    )
  if (role !== 'origin')
    throw new NotConfigured(
      `session_replication_role is ${role}, so that no trigger fires and no revocation counts; run ALTER DATABASE … RESET session_replication_role, or leave it out of DATABASE_URL`,
    )
  if (schema === null) throw new NotConfigured(NO_SCHEMA)
  if (isStandby) throw new Error('the server is a standby, and only a primary is used')
  return { pid: rows[0].pid, startedAt: rows[0].startedAt }
}
