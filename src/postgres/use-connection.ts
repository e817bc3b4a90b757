import type { PoolClient } from 'pg'
import { AuthenticationFault } from '../listing/faults.ts'
import type { Database } from './database.ts'
import { type Call, judgeTogether, type Outcome, type OwnersByKey, useTogether } from './uses.ts'

/** From a batch's beginning to its end, in milliseconds, whatever becomes of the database meanwhile. */
const BATCH_MS = 1_500

/** One connection that uses are decided on: made by the first batch, and by the next one after it was given up. */
export interface UseConnection {
  /** Decides a batch, one at a time. Rejects, with a fault, where nothing could be decided. */
  decide(calls: readonly Call[]): Promise<Outcome[]>
  /** To be called when no batch is under way. */
  close(): void
}

/** `prepare` is awaited before each connecting, and throws what it finds as a fault. */
export function createUseConnection(
  database: Database,
  owners: OwnersByKey,
  prepare: () => Promise<void>,
): UseConnection {
  let connected: PoolClient | null = null
  let connecting: Promise<PoolClient> | null = null

  /** A batch that comes too late for a connection leaves it to the next. */
  function reach(): Promise<PoolClient> {
    connecting ??= connect().finally(() => {
      connecting = null
    })
    return connecting
  }

  async function connect(): Promise<PoolClient> {
    await prepare()
    const client = await database.acquire().catch((error: unknown) => {
      throw unreachable(error)
    })
    client.once('end', () => giveUp(client))
    connected = client
    return client
  }

  /** Whatever is wrong with the connection, or where it leads to, is left behind with it. */
  function giveUp(client: PoolClient): void {
    if (connected !== client) return
    connected = null
    client.release(true)
  }

  async function attempt(calls: readonly Call[], isLate: () => boolean): Promise<Outcome[]> {
    const client = connected ?? (await reach())
    // Nobody waits for these any more, and no key is to lose its second for nothing.
    if (isLate()) return []
    try {
      return await useTogether(client, owners, calls)
    } catch (error) {
      const outcomes = await judgeTogether(client, calls, error)
      giveUp(client)
      return outcomes
    }
  }

  return {
    decide: (calls) =>
      new Promise((resolve, reject) => {
        let isLate = false
        const timer = setTimeout(() => {
          isLate = true
          if (connected !== null) giveUp(connected)
          reject(new AuthenticationFault(`the database had no answer for ${BATCH_MS} ms`))
        }, BATCH_MS)
        attempt(calls, () => isLate)
          .finally(() => clearTimeout(timer))
          .then(resolve, reject)
      }),

    close() {
      connected?.release()
      connected = null
    },
  }
}

export function unreachable(cause: unknown): AuthenticationFault {
  return new AuthenticationFault('the database cannot be reached', { cause })
}
