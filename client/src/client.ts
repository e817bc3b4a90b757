import { sleep } from './clock.ts'
import { type ServerListingError, UnauthorizedError } from './errors.ts'
import { type Answer, type Call, listThrough, queueFor } from './key-queue.ts'
import {
  checkedTries,
  type ServerListingClientOptions,
  type Settings,
  settingsOf,
} from './options.ts'
import { requestListing } from './request.ts'
import type { Server } from './server.ts'

export interface ListOptions {
  /** Ends the call. It then throws the signal's reason. */
  signal?: AbortSignal | undefined
  /**
   * Accepts a recent answer of this process to any call with the same `baseUrl` and key, so that
   * many calls share a request. The request of that answer began less than this many milliseconds
   * ago. 0 by default.
   */
  maxAgeMs?: number | undefined
}

export interface WatchOptions {
  /** Ends the loop. It then throws the signal's reason. */
  signal?: AbortSignal | undefined
  /** Milliseconds from one answer to the next request, at least 1,000. 2,000 by default. */
  intervalMs?: number | undefined
  /**
   * How many requests in a row may fail before the iterator throws. 120 by default, which is about
   * an hour. Infinity is allowed.
   */
  maxTries?: number | undefined
  /**
   * Called after each failed request that `watch` tries again. `ageMs` is the age of the listing
   * that the service last confirmed, in milliseconds, or null before the first one.
   */
  onFailure?: ((error: ServerListingError, ageMs: number | null) => void) | undefined
  /** Called at the first answer after failures. The listing is current again. */
  onRecovery?: (() => void) | undefined
}

/** What `listServers` and `watch` ask for. */
type ListRequest = Pick<Call, 'maxTries' | 'signal' | 'maxAgeMs' | 'onFailure'>

const WATCH_INTERVAL_MS = 2_000
const WATCH_INTERVAL_MS_MIN = 1_000
const WATCH_TRIES = 120

/**
 * A client of the Public Server Listing API.
 *
 * All clients of a process that have the same `baseUrl` and key share one queue. It sends one
 * request at a time and pauses for 1.05 to 2.05 seconds after each answer, so a process that alone
 * uses its key gets no 429 (spec 8). Calls that wait together share one answer.
 *
 * After a 429, 502, 503, 504 or a failed connection, the queue waits as long as `Retry-After` says,
 * and at least 1, 2, 4 … 30 seconds. It then tries again, up to `maxTries`.
 */
export class ServerListingClient {
  readonly #settings: Settings

  /** Throws TypeError if an option is wrong, and in a browser. */
  constructor(options: ServerListingClientOptions) {
    this.#settings = settingsOf(options)
  }

  /**
   * The personal servers of the key's owner, at most 100, the most recently updated first (spec
   * 4.1). They were read after this call began, or less than `maxAgeMs` before it returns. Throws a
   * ServerListingError, or the reason of `signal`.
   */
  async listServers({ signal, maxAgeMs = 0 }: ListOptions = {}): Promise<readonly Server[]> {
    if (!(maxAgeMs >= 0))
      throw new TypeError(`maxAgeMs must be a number of milliseconds from 0, not ${maxAgeMs}`)
    const { maxTries } = this.#settings
    return (await this.#list({ maxTries, signal, maxAgeMs, onFailure: undefined })).servers
  }

  /**
   * Yields the listing, and then each listing that differs from the one before. Ends when the
   * caller leaves the loop. Throws the reason of `signal`, a ServerListingError that can't pass by
   * itself, such as UnauthorizedError, or the last of `maxTries` failures in a row.
   */
  async *watch(options: WatchOptions = {}): AsyncGenerator<readonly Server[], never, undefined> {
    const { intervalMs = WATCH_INTERVAL_MS, maxTries = WATCH_TRIES, signal } = options
    if (!(intervalMs >= WATCH_INTERVAL_MS_MIN && intervalMs < 2 ** 31))
      throw new TypeError(`intervalMs must be at least ${WATCH_INTERVAL_MS_MIN}, not ${intervalMs}`)
    checkedTries(maxTries)
    const { clock } = this.#settings
    let confirmedAt: number | null = null
    let isFailing = false
    const onFailure = (error: ServerListingError) => {
      isFailing = true
      options.onFailure?.(error, confirmedAt === null ? null : clock.now() - confirmedAt)
    }
    let yielded: string | null = null
    for (;;) {
      const { begunAt, servers } = await this.#list({ maxTries, signal, maxAgeMs: 0, onFailure })
      confirmedAt = begunAt
      if (isFailing) options.onRecovery?.()
      isFailing = false
      const text = JSON.stringify(servers)
      if (text !== yielded) {
        yielded = text
        yield servers
      }
      await sleep(clock, intervalMs, signal)
    }
  }

  async #list(request: ListRequest): Promise<Answer> {
    request.signal?.throwIfAborted()
    const { keys } = this.#settings
    const key = await keys.get()
    try {
      return await this.#listWith(key, request)
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error
      const replacement = await keys.replacementOf(key)
      if (replacement === null) throw error
      return await this.#listWith(replacement, request)
    }
  }

  #listWith(key: string, request: ListRequest): Promise<Answer> {
    const { url, clock, random, fetch, timeoutMs } = this.#settings
    const { signal } = request
    const queue = queueFor(clock, url, key)
    return listThrough(queue, {
      ...request,
      clock,
      random,
      timeoutMs,
      send: () => {
        const hasAnswered = queue.latest !== null
        return requestListing({ url, key, fetch, clock, timeoutMs, signal, hasAnswered })
      },
    })
  }
}
