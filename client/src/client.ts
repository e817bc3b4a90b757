import { sleep } from './clock.ts'
import { UnauthorizedError } from './errors.ts'
import { listThrough, queueFor } from './key-queue.ts'
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
}

export interface WatchOptions extends ListOptions {
  /** Milliseconds from one answer to the next request, at least 1,000. 2,000 by default. */
  intervalMs?: number | undefined
  /**
   * How many requests in a row may fail before the iterator throws. 120 by default, which is about
   * an hour. Infinity is allowed.
   */
  maxTries?: number | undefined
}

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
   * 4.1). They were read after this call began. Throws a ServerListingError, or the reason of
   * `signal`.
   */
  listServers({ signal }: ListOptions = {}): Promise<readonly Server[]> {
    return this.#list(this.#settings.maxTries, signal)
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
    let yielded: string | null = null
    for (;;) {
      const servers = await this.#list(maxTries, signal)
      const text = JSON.stringify(servers)
      if (text !== yielded) {
        yielded = text
        yield servers
      }
      await sleep(this.#settings.clock, intervalMs, signal)
    }
  }

  async #list(maxTries: number, signal: AbortSignal | undefined): Promise<readonly Server[]> {
    signal?.throwIfAborted()
    const { keys } = this.#settings
    const key = await keys.get()
    try {
      return await this.#listWith(key, maxTries, signal)
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error
      const replacement = await keys.replacementOf(key)
      if (replacement === null) throw error
      return await this.#listWith(replacement, maxTries, signal)
    }
  }

  #listWith(
    key: string,
    maxTries: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly Server[]> {
    const { url, clock, random, fetch, timeoutMs } = this.#settings
    return listThrough(queueFor(clock, url, key), {
      clock,
      random,
      timeoutMs,
      maxTries,
      signal,
      send: () => requestListing({ url, key, fetch, clock, timeoutMs, signal }),
    })
  }
}
