import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { PoolCounts } from '../model/health/health.ts'
import { type Backend, createAbandonedBackends } from './abandoned.ts'
import { type Hosts, hostsOf } from './hosts.ts'
import type { Patience } from './patience.ts'
import { createPool } from './pool.ts'
import { frozen, isRefusedEverywhere, limited, unusable } from './refusals.ts'

/**
 * Connections of one process for the API: two decide claims, and one is reserved for ending
 * abandoned backends. The dashboard has as many of its own.
 */
const CONNECTIONS_MAX = 4

export interface Database {
  /** A connection to the primary. Return it with `release`, and pass the error if it failed. */
  acquire(): Promise<pg.PoolClient>
  /**
   * Gives up a connection whose statement may still be running, instead of `release`. The server is
   * told to end its backend, which counts as a connection until it is gone.
   */
  giveUp(client: pg.PoolClient): void
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>
  /** Runs `body` with a connection, outside of a transaction. */
  lend<T>(body: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /** Runs `body` as one transaction. */
  transact<T>(body: (client: pg.ClientBase) => Promise<T>): Promise<T>
  /** The open connections. */
  connections(): PoolCounts
  close(): Promise<void>
}

/**
 * Connects with the first query, and again with the first query after a failure. `prepare` runs
 * before each use of a connection, and its error ends that use.
 */
export function openDatabase(
  url: string,
  patience: Patience,
  prepare: () => Promise<void> = async () => {},
): Database {
  const hosts = hostsOf(url)
  const backends = new WeakMap<pg.ClientBase, Backend>()
  const openPool = (max: number) =>
    createPool(hosts, patience, max, (client, backend) => backends.set(client, backend))
  const pool = openPool(CONNECTIONS_MAX - 1)
  /** Its one connection ends abandoned backends. */
  const reservedPool = openPool(1)
  const abandoned = createAbandonedBackends((text, values) =>
    lend(
      () => connect(reservedPool, hosts),
      giveUp,
      async (client) => (await client.query<Backend>(text, values)).rows,
    ),
  )
  let closed: Promise<void> | null = null

  /**
   * Waits for a free backend as the pool waits for a connection, so that other connections take the
   * calls.
   */
  async function acquire(): Promise<pg.PoolClient> {
    await prepare()
    if (abandoned.count() > 0) await abandoned.end()
    if (isFull()) {
      await delay(patience.connectMs)
      await abandoned.end()
      if (isFull())
        throw new Error(
          `the server still runs the statements of ${abandoned.count()} abandoned connections`,
        )
    }
    return connect(pool, hosts)
  }

  function isFull(): boolean {
    const taken = pool.totalCount + abandoned.count()
    return abandoned.count() > 0 && pool.idleCount === 0 && taken >= CONNECTIONS_MAX - 1
  }

  function giveUp(client: pg.PoolClient): void {
    client.release(true)
    abandoned.add(backends.get(client)!)
  }

  async function close(): Promise<void> {
    await abandoned.close()
    await Promise.all([pool.end(), reservedPool.end()])
  }

  return {
    acquire,
    giveUp,
    lend: (body) => lend(acquire, giveUp, body),
    query: <Row>(text: string, values?: unknown[]) =>
      lend(acquire, giveUp, async (client) => (await client.query(text, values)).rows as Row[]),

    transact: (body) => lend(acquire, giveUp, (client) => transact(client, body)),

    connections: () => countConnections([pool, reservedPool]),
    close: () => (closed ??= close()),
  }
}

/**
 * Takes a connection for `body`, and gives it up if its statement may still be running. A session
 * of a frozen database stays read-only, so the next call gets another one.
 */
async function lend<T>(
  take: Database['acquire'],
  giveUp: Database['giveUp'],
  body: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await take()
  try {
    const result = await body(client)
    client.release()
    return result
  } catch (error) {
    const refusal = frozen(error)
    if (error instanceof pg.DatabaseError) client.release(refusal !== null)
    else giveUp(client)
    throw refusal ?? error
  }
}

function countConnections(pools: readonly pg.Pool[]): PoolCounts {
  const sum = (count: (pool: pg.Pool) => number) =>
    pools.reduce((total, pool) => total + count(pool), 0)
  const idle = sum((pool) => pool.idleCount)
  return {
    busy: sum((pool) => pool.totalCount) - idle,
    idle,
    waiting: sum((pool) => pool.waitingCount),
  }
}

/** A failure that may pass on one host tells more than a lasting one on another. */
async function connect(
  from: pg.Pool,
  hosts: Hosts,
  hostsLeft = hosts.count,
  mayPass?: unknown,
): Promise<pg.PoolClient> {
  const host = hosts.current()
  try {
    return await from.connect()
  } catch (refusal) {
    const error = limited(refusal)
    if (isRefusedEverywhere(error)) throw error
    const failure = unusable(error) === null ? error : mayPass
    if (hostsLeft <= 1) throw failure ?? error
    hosts.avoid(host)
    return connect(from, hosts, hostsLeft - 1, failure)
  }
}

async function transact<T>(
  client: pg.PoolClient,
  body: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  await client.query('BEGIN')
  try {
    const result = await body(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}
