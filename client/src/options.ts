import { fixedKey, isApiKey, type KeySource, keyInFile } from './api-key.ts'
import { type Clock, monotonicClock } from './clock.ts'

export interface ServerListingClientOptions {
  /**
   * The address of the API, without `/v1/servers`. With `http:`, only for a loopback host unless
   * `allowInsecureHttp` is true.
   */
  baseUrl: string | URL
  /** The API key. Pass this or `apiKeyFile`. */
  apiKey?: string | undefined
  /**
   * The path of a file that contains the API key. The client reads it before the first request, and
   * again after a 401, so a program need not restart for a new key.
   */
  apiKeyFile?: string | URL | undefined
  /** The time limit of one request in milliseconds, body included. 10,000 by default. */
  timeoutMs?: number | undefined
  /** How often one `listServers()` asks at most. 5 by default. */
  maxTries?: number | undefined
  /** Sends the key over plain HTTP to other hosts than this one. False by default. */
  allowInsecureHttp?: boolean | undefined
  /**
   * Runs in a browser or a mobile app, where every visitor can read the key (spec 5.4). False by
   * default: the constructor throws there.
   */
  dangerouslyAllowBrowser?: boolean | undefined
  /** Replaces `globalThis.fetch`, for tests and proxies. It must not follow redirects by itself. */
  fetch?: typeof globalThis.fetch | undefined
  /** Replaces the monotonic clock, for tests. Clients with different clocks share no queue. */
  clock?: Clock | undefined
  /** Replaces `Math.random`, for tests. */
  random?: (() => number) | undefined
}

export interface Settings {
  url: string
  keys: KeySource
  timeoutMs: number
  maxTries: number
  fetch: typeof globalThis.fetch
  clock: Clock
  random: () => number
}

const TIMEOUT_MS = 10_000
const TIMEOUT_MS_MAX = 300_000
const TRIES = 5

/** Throws TypeError if an option is wrong. No message repeats a key. */
export function settingsOf(options: ServerListingClientOptions): Settings {
  if (options.dangerouslyAllowBrowser !== true && isBrowser())
    throw new TypeError(
      'ServerListingClient does not run in browsers and apps, because every visitor could read the API key. Call the API from a server. If the key may be public, pass dangerouslyAllowBrowser: true.',
    )
  const { timeoutMs = TIMEOUT_MS, maxTries = TRIES } = options
  if (!(timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX))
    throw new TypeError(
      `timeoutMs must be between 1 and ${TIMEOUT_MS_MAX} milliseconds, not ${timeoutMs}`,
    )
  return {
    url: `${baseUrlOf(options)}/v1/servers`,
    keys: keysOf(options),
    timeoutMs,
    maxTries: checkedTries(maxTries),
    // Looked up for each request, and without a receiver, which some runtimes refuse.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    clock: options.clock ?? monotonicClock,
    random: options.random ?? Math.random,
  }
}

export function checkedTries(maxTries: number): number {
  if (maxTries === Infinity || (Number.isInteger(maxTries) && maxTries >= 1)) return maxTries
  throw new TypeError(`maxTries must be a whole number from 1, or Infinity, not ${maxTries}`)
}

/** Without a slash at its end. */
function baseUrlOf({ baseUrl, allowInsecureHttp }: ServerListingClientOptions): string {
  const example = 'such as https://api.example.com'
  if (!URL.canParse(String(baseUrl))) throw new TypeError(`baseUrl must be a URL ${example}`)
  const url = new URL(baseUrl)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError(
      `baseUrl must be a URL without user, password, query and fragment, ${example}`,
    )
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TypeError(`baseUrl must begin with https://, not ${url.protocol}`)
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && allowInsecureHttp !== true)
    throw new TypeError(
      `baseUrl ${url.href} would send the API key unencrypted. Use https://, or pass allowInsecureHttp: true for a trusted network.`,
    )
  return url.href.replace(/\/+$/, '')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
}

function keysOf({ apiKey, apiKeyFile }: ServerListingClientOptions): KeySource {
  if ((apiKey === undefined) === (apiKeyFile === undefined))
    throw new TypeError(
      `pass apiKey or apiKeyFile, not ${apiKey === undefined ? 'none of them' : 'both'}`,
    )
  if (apiKeyFile !== undefined) return keyInFile(apiKeyFile)
  if (typeof apiKey !== 'string' || !isApiKey(apiKey))
    throw new TypeError(
      'apiKey is not an API key, which is svc_live_ and hexadecimal digits without white space',
    )
  return fixedKey(apiKey)
}

function isBrowser(): boolean {
  const { document, navigator } = globalThis as {
    document?: unknown
    navigator?: { userAgent?: string; product?: string }
  }
  // Web workers have no document. Node.js, Bun, Deno and Cloudflare name themselves.
  return (
    document !== undefined ||
    navigator?.product === 'ReactNative' ||
    navigator?.userAgent?.startsWith('Mozilla/') === true
  )
}
