import type { Socket } from 'node:net'
import type pg from 'pg'
import {
  type Finding,
  judgeLastBackup,
  judgeSchema,
  judgeTriggers,
  ok,
  problem,
  warning,
} from '../model/health/finding.ts'
import { presentInstant } from '../model/instant.ts'
import { findLastBackup } from '../database/last-backup.ts'
import { inspectCreators } from './creators.ts'
import { type Database, openDatabase } from './database.ts'
import { inspectGrants } from './grants.ts'
import { managementConnection } from './management-connection.ts'
import { assertUpToDate } from './migrate.ts'
import { MANAGING } from './patience.ts'
import { FROZEN, THAW, unreachableServer, unusable } from './refusals.ts'
import { inspectStandbys } from './standbys.ts'

/** A larger difference between the clocks of both machines is worth a warning. */
const CLOCK_DIFFERENCE_MAX_MS = 1_000

/** Looks at a PostgreSQL database, with `inspectRows` at its rows, and its server. Only reads. */
export async function inspectPostgres(
  url: string,
  inspectRows: (database: Database) => Promise<Finding[]>,
): Promise<Finding[]> {
  const database = openDatabase(url, MANAGING)
  try {
    const server = await database.lend(readServer)
    const schema = await inspectSchema(database)
    return [
      judgeFrozen(server),
      schema,
      ...(schema.state === 'ok' ? await inspectRows(database) : []),
      judgeTls(server),
      judgeDurability(server),
      await inspectStandbys(database),
      judgeClock(server),
      await inspectGrants(database),
      ...(schema.state === 'ok'
        ? [
            await inspectTriggers(database),
            await inspectCreators(database),
            await inspectBackup(database),
          ]
        : []),
    ]
  } catch (error) {
    const away = unreachableServer(error)
    const { message } = (unusable(error) ?? away ?? error) as Error
    const act = away === null ? 'correct that on the server' : 'start the server'
    return [problem('database', message, `${act}, or correct DATABASE_URL`)]
  } finally {
    await database.close()
  }
}

export interface ServerFacts {
  version: string
  fsync: string
  isFrozen: boolean
  /** The connection to the server. With a pooler between, the one to it and its own. */
  hops: readonly [Hop] | readonly [Hop, Hop]
  /** The server's clock minus ours, in milliseconds, and by how much that can be wrong. */
  clockMs: number
  errorMs: number
}

interface Hop {
  ssl: boolean
  /** Whether both ends are on one machine. */
  local: boolean
}

interface ServerRow extends Pick<ServerFacts, 'version' | 'fsync' | 'isFrozen' | 'clockMs'>, Hop {
  pid: number
}

/** The parts of a client that the driver's types leave out. */
interface DriverClient {
  processID: number | null
  connection: { stream: Socket & { encrypted?: boolean } }
}

async function readServer(client: pg.ClientBase): Promise<ServerFacts> {
  const before = Date.now()
  const { rows } = await client.query<ServerRow>(`
    SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
      current_setting('transaction_read_only') = 'on' AS "isFrozen", pg_backend_pid() AS pid,
      coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS ssl,
      coalesce(inet_client_addr() = inet_server_addr(), true) AS local,
      (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "clockMs"`)
  const errorMs = (Date.now() - before) / 2
  const { version, fsync, isFrozen, pid, ssl, local, clockMs } = rows[0]!
  const { processID: announcedPid, connection } = client as unknown as DriverClient
  const { encrypted = false, remoteAddress, localAddress } = connection.stream
  const own = { ssl: encrypted, local: remoteAddress === localAddress }
  return {
    version,
    fsync,
    isFrozen,
    // The server sees the connection of a pooler, which makes up the announced id.
    hops: pid === announcedPid ? [own] : [own, { ssl, local }],
    errorMs,
    clockMs: clockMs - before - errorMs,
  }
}

async function inspectSchema(database: Database): Promise<Finding> {
  try {
    await assertUpToDate(database)
    return judgeSchema(null)
  } catch (error) {
    return judgeSchema(unusable(error) ?? (error as Error))
  }
}

function judgeFrozen({ version, isFrozen }: ServerFacts): Finding {
  if (!isFrozen) return ok('database', `PostgreSQL ${version}, encoding UTF8`)
  return problem('database', FROZEN, THAW)
}

/** A trigger that is gone leaves its function without one. */
const SILENT = `
  SELECT proname AS name FROM pg_proc
  WHERE pronamespace = quote_ident(current_schema())::regnamespace
    AND prorettype = 'trigger'::regtype
    AND (NOT EXISTS (SELECT FROM pg_trigger WHERE tgfoid = pg_proc.oid)
      OR EXISTS (SELECT FROM pg_trigger WHERE tgfoid = pg_proc.oid AND tgenabled = 'D'))
  ORDER BY proname`

async function inspectTriggers(database: Database): Promise<Finding> {
  const rows = await database.query<{ name: string }>(SILENT)
  return judgeTriggers(
    rows.map(({ name }) => name),
    'run ALTER TABLE … ENABLE TRIGGER USER for each of our tables, or make a backup and restore it into a new database',
  )
}

export function judgeTls({ hops }: Pick<ServerFacts, 'hops'>): Finding {
  const check = 'database_tls'
  const clear = hops.findIndex(({ ssl, local }) => !ssl && !local)
  if (clear !== -1) {
    const behindPooler = clear === 0 ? 'to the pooler' : 'from the pooler to PostgreSQL'
    return warning(
      check,
      `the connection ${hops.length === 1 ? 'to PostgreSQL' : behindPooler} is not encrypted: others on the network can read email addresses and the hashes of keys and passwords`,
      clear === 0
        ? 'add sslmode=verify-full to DATABASE_URL, unless the network is private'
        : 'let the pooler connect with TLS, unless the network is private',
    )
  }
  if (hops.length > 1)
    return ok(check, 'the connection through the pooler is encrypted where it leaves a machine')
  const found = hops[0].ssl ? 'is encrypted' : 'stays on this machine'
  return ok(check, `the connection to PostgreSQL ${found}`)
}

export function judgeDurability({ fsync }: ServerFacts): Finding {
  if (fsync === 'on') return ok('durability', 'the server flushes commits to the disk')
  return problem(
    'durability',
    'fsync is off: a crash of the server can undo revocations and damage the database',
    'set fsync = on in postgresql.conf, and reload the server',
  )
}

export function judgeClock({ clockMs, errorMs }: ServerFacts): Finding {
  const seconds = `${(Math.abs(clockMs) / 1_000).toFixed(1)} s`
  if (Math.abs(clockMs) - errorMs <= CLOCK_DIFFERENCE_MAX_MS)
    return ok('clock', 'the clocks of this machine and of the database agree')
  return warning(
    'clock',
    `the clock of the database is ${seconds} ${clockMs > 0 ? 'ahead of' : 'behind'} that of this machine`,
    'let a time daemon set both clocks. The clock of the database decides the rate limit',
  )
}

async function inspectBackup(database: Database): Promise<Finding> {
  const madeAt = await findLastBackup(managementConnection(database))
  return judgeLastBackup(madeAt, presentInstant())
}
