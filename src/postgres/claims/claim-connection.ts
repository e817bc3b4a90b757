import pg, { type PoolClient } from 'pg'
import type { Call, Outcome } from '../../claims/call.ts'
import type { Decider } from '../../claims/decide.ts'
import type { QueueOptions } from '../../claims/queue.ts'
import { AuthenticationFault } from '../../model/faults.ts'
import type { Database } from '../database.ts'
import { unusable } from '../refusals.ts'
import type { KnownKeys } from './known-keys.ts'
import { claimBatch, classifyAfterFailure } from './claims.ts'

/** The time for a batch in milliseconds, even if the database hangs. */
const BATCH_MS = 1_500
/** How long a call waits for earlier batches and for another session's lock, in milliseconds. */
const WAIT_MAX_MS = 800

export const POSTGRES_QUEUE: QueueOptions = {
  // Larger batches are hardly cheaper per call, and they leave the other connection idle.
  batchMax: 128,
  waitMaxMs: WAIT_MAX_MS,
  expiredReason: `the database had no answer for ${WAIT_MAX_MS} ms`,
  busyReason: (apiKeyId) =>
    `the row of api key ${apiKeyId} stayed locked by another session for ${WAIT_MAX_MS} ms: ` +
    'end the transaction that holds it; pg_locks and pg_stat_activity show which',
}

/**
 * One connection that decides claims. The first batch opens it, and the next batch after it was
 * given up opens it again.
 */
export interface ClaimConnection extends Decider {
  claimBatch(calls: readonly Call[]): Promise<Outcome[]>
}

/** `prepare` runs before each connection attempt. Its error becomes the fault. */
export function createClaimConnection(
  database: Database,
  keys: KnownKeys,
  prepare: () => Promise<void>,
): ClaimConnection {
  const connection = createConnection(database, prepare)

  async function attempt(calls: readonly Call[], isExpired: () => boolean): Promise<Outcome[]> {
    const client = connection.current() ?? (await connection.reach())
    // The callers have their fault already, so no key may lose its second now.
    if (isExpired()) return []
    try {
      return await claimBatch(client, keys, calls)
    } catch (error) {
      const outcomes = await classifyAfterFailure(client, calls, error)
      connection.giveUp(client, error instanceof pg.DatabaseError)
      return outcomes
    }
  }

  return {
    claimBatch: (calls) =>
      withinBatchTime(
        (isExpired) => attempt(calls, isExpired),
        () => connection.giveUp(connection.current()),
      ),
    close: connection.close,
  }
}

/** A connection that can be given up and opened again. */
interface Connection {
  current(): PoolClient | null
  /** Connects. A connection that is too late for its batch serves the next one. */
  reach(): Promise<PoolClient>
  /**
   * Gives up the connection with all its problems, if it is the current one. An unanswered
   * statement may still be running there.
   */
  giveUp(client: PoolClient | null, isAnswered?: boolean): void
  close(): void
}

function createConnection(database: Database, prepare: () => Promise<void>): Connection {
  let connected: PoolClient | null = null
  let connecting: Promise<PoolClient> | null = null
  let isClosed = false

  async function connect(): Promise<PoolClient> {
    await prepare()
    const client = await database.acquire().catch((error: unknown) => {
      throw unusable(error) ?? unreachable(error)
    })
    // No batch waits for it any more. The pool ends when all its connections are returned.
    if (isClosed) {
      client.release(true)
      throw unreachable(new Error('the store was closed before its connection was made'))
    }
    client.once('end', () => giveUp(client))
    connected = client
    return client
  }

  function giveUp(client: PoolClient | null, isAnswered = false): void {
    if (client === null || connected !== client) return
    connected = null
    if (isAnswered) client.release(true)
    else database.giveUp(client)
  }

  return {
    current: () => connected,

    reach() {
      connecting ??= connect().finally(() => {
        connecting = null
      })
      return connecting
    },

    giveUp,

    close() {
      isClosed = true
      connected?.release()
      connected = null
    },
  }
}

/** Calls `expire` and rejects if the work takes longer than a batch may. */
function withinBatchTime<T>(
  work: (isExpired: () => boolean) => Promise<T>,
  expire: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isExpired = false
    const timer = setTimeout(() => {
      isExpired = true
      expire()
      reject(new AuthenticationFault(`the database had no answer for ${BATCH_MS} ms`))
    }, BATCH_MS)
    work(() => isExpired)
      .finally(() => clearTimeout(timer))
      .then(resolve, reject)
  })
}

export function unreachable(cause: unknown): AuthenticationFault {
  return new AuthenticationFault('the database cannot be reached', { cause })
}
