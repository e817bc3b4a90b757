import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../model/instant.ts'
import type { Database, Dialect, Given, Transaction } from '../database/database.ts'
import { at, raw, type Sql, sql } from '../database/sql.ts'
import { bounded, retryWhileLocked, rollBack } from './database.ts'
import { isLocked } from './errors.ts'
import type { FileWatch } from './file/file-watch.ts'
import type { Mirror } from './journal/mirror.ts'
import { queriesOn, type StatementQueries } from './management-statements.ts'
import { readParts } from './read-parts.ts'

const SQLITE_CONSTRAINT_UNIQUE = 2067

export interface ConnectionOptions {
  /** How long to retry work that finds the file locked, in milliseconds. */
  lockWaitMs: number
  /** For a serving process: a change counts only if the paths still name the open files. */
  watch?: FileWatch
  /** Has the journal get each revocation before the change that made it resolves. */
  mirror?: Mirror
}

export interface ManagementConnection extends Database {
  /** Has the journal get what other connections have listed. */
  flush(): Promise<void>
}

/** The file was restored and not united yet. Nothing has changed; the work begins again. */
class NotUnited extends Error {
  override name = 'NotUnited'
}

/** The body of a transaction awaited something other than its queries. It was rolled back. */
export class Overdue extends Error {
  override name = 'Overdue'
  override message = 'a transaction awaited something other than its queries, and was rolled back'
}

/**
 * Lends a connection to the control plane. Lend each connection once: its queue keeps callers
 * apart. Turns SQLite's own busy timeout off, which would block this process, while it may hold the
 * lock itself on another connection.
 */
export function managementConnection(
  connection: DatabaseSync,
  options: ConnectionOptions,
): ManagementConnection {
  connection.exec('PRAGMA busy_timeout = 0')
  const { mirror, watch } = options
  const queue = createQueue(connection, options)
  const queries = queriesOn(connection)

  async function change<T>(body: (transaction: Transaction) => Promise<T>): Promise<T> {
    const result = await queue(async () => {
      // While a line is missing, a change fails before it begins.
      await mirror?.flush()
      const done = await transact(connection, queries, body, { mirror })
      await mirror?.write()
      return done
    })
    watch?.confirm()
    return result
  }

  return {
    all: (query) => queue(() => queries.all(query)),
    get: (query) => queue(() => queries.get(query)),
    run: (query) => change((transaction) => transaction.run(query)),
    transact: change,
    snapshot: (body) => queue(() => transact(connection, queries, body, { begin: 'BEGIN' })),
    flush: () => queue(async () => mirror?.flush()),
    async readParts(query, rowsMax, onRows) {
      assertHeld(watch)
      await readParts(connection.location()!, options.lockWaitMs, query, rowsMax, onRows)
    },
    dialect: DIALECT,
  }
}

/** Runs pieces of work one after the other. */
type Queue = <T>(work: () => Promise<T>) => Promise<T>

/** Work that finds the file locked lets the work behind it go first. */
function createQueue(connection: DatabaseSync, { lockWaitMs, watch }: ConnectionOptions): Queue {
  let last: Promise<unknown> = Promise.resolve()
  const alone: Queue = (work) => {
    const result = last.then(() => {
      // The last work may have failed to end its transaction, and this work would become part of
      // it.
      rollBack(connection)
      return work()
    })
    last = result.catch(() => {})
    return result
  }
  return async (work) => {
    assertHeld(watch)
    return retryWhileLocked(() => alone(work), lockWaitMs, isRetried)
  }
}

function isRetried(error: unknown): boolean {
  return isLocked(error) || error instanceof NotUnited
}

function assertHeld(watch: FileWatch | undefined): void {
  const lost = watch?.faultAt() ?? null
  if (lost !== null) throw lost
}

const instant = (column: string): Sql => raw(`${bounded(column)} AS ${column.split('.').at(-1)}`)

const DIALECT: Dialect = {
  instant,
  selectApiKeys,
  recordLastUses,
  recentApiKeys,
  idleApiKeys,
  keyPlace: raw('serial'),
  firstKeyPlace: 0,
  // A writer is alone.
  auditOrder: { column: 'rowid', type: 'INTEGER', settled: sql`true`, foreign: sql`false` },
  databaseFacts: sql`
    SELECT 'SQLite' AS engine, sqlite_version() AS version, page_count * page_size AS bytes
    FROM pragma_page_count(), pragma_page_size()`,
  byBytes: sql`COLLATE BINARY`,
  skipLocked: sql``,
  isTaken: (error) => (error as { errcode?: unknown }).errcode === SQLITE_CONSTRAINT_UNIQUE,
}

async function transact<T>(
  connection: DatabaseSync,
  queries: StatementQueries,
  body: (transaction: Transaction) => Promise<T>,
  { begin = 'BEGIN IMMEDIATE', mirror }: { begin?: string; mirror?: Mirror | undefined } = {},
): Promise<T> {
  let isOpen = true
  const overdue = new Promise<never>((_, reject) => {
    // Ticks run after all microtasks. A body that awaits only its queries has ended by then.
    process.nextTick(() => {
      if (isOpen) reject(new Overdue())
      isOpen = false
    })
  })
  const assertOpen = () => {
    if (!isOpen) throw new Overdue()
  }
  const transaction: Transaction = {
    async all(query) {
      assertOpen()
      return queries.all(query)
    },
    async get(query) {
      assertOpen()
      return queries.get(query)
    },
    async run(query) {
      assertOpen()
      return queries.run(query)
    },
    async runGiven(columns, rows, statement) {
      assertOpen()
      return queries.runGiven(columns, rows, statement)
    },
    lock: async () => {},
    lockNames: async () => {},
  }
  try {
    connection.exec(begin)
    // From here until the commit no restore can change the file.
    if (mirror?.isUnited() === false) throw new NotUnited()
    const result = await Promise.race([body(transaction), overdue])
    const listed = mirror?.readListed() ?? []
    connection.exec('COMMIT')
    mirror?.note(listed)
    return result
  } catch (error) {
    rollBack(connection)
    throw error
  } finally {
    isOpen = false
  }
}

/**
 * Reads the last use as the view api_key_uses does. It reads the newest claims of these keys only;
 * the view sorts the claims of all keys.
 */
function selectApiKeys(where: Sql): Sql {
  return sql`
    SELECT id, user_id, name, prefix, ${instant('created_at')}, ${instant('revoked_at')},
      coalesce(latest.claimed_at, last_claims.claimed_at, older_claims.claimed_at) AS last_used_at FROM api_keys
    LEFT JOIN (
      SELECT api_key, claimed_at, max(number) FROM recent_claims
      WHERE api_key IN (SELECT serial FROM api_keys WHERE ${where}) GROUP BY api_key
    ) AS latest ON latest.api_key = serial
    LEFT JOIN last_claims ON last_claims.api_key = serial
    LEFT JOIN older_claims ON older_claims.api_key = serial
    WHERE ${where}`
}

/**
 * Boot 0 is no boot of this machine: no clock compares the stamp with its own. The serving process
 * has no stamp of a new key in memory.
 */
function recordLastUses({ column }: Given): Sql {
  return sql`
    INSERT INTO last_claims (api_key, claimed_at, monotonic, boot)
    SELECT serial, ${column('last_used_at')}, 0, 0 FROM api_keys WHERE id = ${column('id')}
    ON CONFLICT DO NOTHING`
}

/** The latest rows of each table suffice: a key's last use is the later one of its rows. */
function recentApiKeys(keysMax: number): Sql {
  return sql`
    SELECT id FROM api_keys JOIN (
      SELECT api_key, max(claimed_at) AS claimed_at FROM (
        SELECT * FROM (
          SELECT api_key, max(claimed_at) AS claimed_at FROM recent_claims GROUP BY api_key
          ORDER BY 2 DESC LIMIT ${keysMax}
        ) UNION ALL SELECT * FROM (
          SELECT api_key, claimed_at FROM last_claims ORDER BY claimed_at DESC LIMIT ${keysMax}
        ) UNION ALL SELECT * FROM (
          SELECT api_key, claimed_at FROM older_claims ORDER BY claimed_at DESC LIMIT ${keysMax}
        )
      ) GROUP BY api_key ORDER BY 2 DESC LIMIT ${keysMax}
    ) ON api_key = serial`
}

/** The newest claims are few, so that one list of them serves all keys. */
function idleApiKeys(since: Instant): Sql {
  const idleSince = sql`coalesce(last_claims.claimed_at, older_claims.claimed_at, created_at)`
  return sql`
    SELECT serial AS place, id, ${idleSince} AS idle_since FROM api_keys
    LEFT JOIN last_claims ON last_claims.api_key = serial
    LEFT JOIN older_claims ON older_claims.api_key = serial
    WHERE revoked_at IS NULL AND disabled_at IS NULL AND ${idleSince} < ${at(since)}
      AND serial NOT IN (SELECT api_key FROM recent_claims WHERE claimed_at >= ${at(since)})`
}
