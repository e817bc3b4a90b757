import { setTimeout as delay } from 'node:timers/promises'
import type { Instant } from '../../model/instant.ts'

/** What a person does at the dashboard, or a site through the management API. */
export type Action = 'page' | 'write' | 'act'

/** Tokens that a client gains per second, and the most that it can save up. */
export const BUDGETS: Record<Action, { perSecond: number; burst: number }> = {
  page: { perSecond: 10, burst: 40 },
  write: { perSecond: 2, burst: 30 },
  act: { perSecond: 100, burst: 200 },
}
/** Requests of one client that may wait behind the one under way. */
export const WAITING_MAX = 20
/** A site has many programs at once. */
const ACTS_WAITING_MAX = 100
/** Clients in memory. Beyond this number, clients without a request are evicted. */
const CLIENTS_MAX = 10_000

export interface TokenBuckets {
  /**
   * Admits a request once the client's earlier requests have ended and a token is there. Null if
   * too many of the client's requests wait already.
   */
  admit(client: string, action: Action): Promise<Admission | null>
}

export interface Admission {
  /** True if time has passed, so that what was read before may have changed. */
  waited: boolean
  /** Lets the client's next request in. */
  end(): void
}

interface Queue {
  /** The request under way and those that wait for it. */
  length: number
  last: Promise<void>
  buckets: Record<Action, Bucket>
}

interface Bucket {
  tokens: number
  filledAt: Instant
}

/**
 * Admits the requests of each client one at a time and within its budget, because pages share the
 * event loop with the API. The buckets are in memory, so each process counts for itself.
 */
export function createTokenBuckets(now: () => Instant): TokenBuckets {
  const queues = new Map<string, Queue>()

  function queueOf(client: string): Queue {
    const known = queues.get(client)
    if (known !== undefined) return known
    if (queues.size >= CLIENTS_MAX)
      for (const [other, { length }] of queues) if (length === 0) queues.delete(other)
    const filledAt = now()
    const full = (action: Action) => ({ tokens: BUDGETS[action].burst, filledAt })
    const buckets = { page: full('page'), write: full('write'), act: full('act') }
    const queue = { length: 0, last: Promise.resolve(), buckets }
    queues.set(client, queue)
    return queue
  }

  return {
    async admit(client, action) {
      const queue = queueOf(client)
      if (queue.length > (action === 'act' ? ACTS_WAITING_MAX : WAITING_MAX)) return null
      queue.length += 1
      let waited = queue.length > 1
      const before = queue.last
      const { promise, resolve } = Promise.withResolvers<void>()
      queue.last = promise
      await before
      for (;;) {
        const waitMs = takeToken(queue.buckets[action], BUDGETS[action], now())
        if (waitMs === 0) break
        waited = true
        await delay(waitMs)
      }
      return {
        waited,
        end() {
          queue.length -= 1
          resolve()
        },
      }
    },
  }
}

/** Takes a token and returns 0, or returns the milliseconds until there is one. */
function takeToken(
  bucket: Bucket,
  { perSecond, burst }: { perSecond: number; burst: number },
  now: Instant,
): number {
  // A clock that is set back neither adds nor removes tokens.
  const passedSeconds = Math.max(0, now - bucket.filledAt) / 1_000_000
  bucket.tokens = Math.min(burst, bucket.tokens + passedSeconds * perSecond)
  bucket.filledAt = now
  if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / perSecond) * 1_000)
  bucket.tokens -= 1
  return 0
}
