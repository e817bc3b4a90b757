import type { Clock } from './clock.ts'
import {
  NotFoundError,
  RateLimitedError,
  RedirectError,
  ServerListingError,
  ServiceError,
  UnauthorizedError,
  UnexpectedStatusError,
} from './errors.ts'
import { invalid, parseListing, type Server } from './server.ts'
import { connectionError, timeoutError } from './unreachable.ts'

export interface ListingRequest {
  url: string
  key: string
  fetch: typeof globalThis.fetch
  clock: Clock
  /** The time limit of the whole answer. */
  timeoutMs: number
  signal: AbortSignal | undefined
  /** True if a request to this URL got an answer before. */
  hasAnswered: boolean
}

/** A listing has at most 100 servers, a few hundred bytes each. */
const BODY_BYTES_MAX = 4 * 2 ** 20
/** A wait that a proxy asks for is not followed beyond this. */
const RETRY_AFTER_MS_MAX = 300_000

/**
 * Sends one request. Throws a ServerListingError, the signal's reason, or an error with which a
 * framework's `fetch` steers the rendering of a page.
 */
export async function requestListing(request: ListingRequest): Promise<readonly Server[]> {
  const { url, key, fetch, clock, timeoutMs, signal } = request
  signal?.throwIfAborted()
  const ended = new AbortController()
  let isLate = false
  const cancelTimer = clock.schedule(() => {
    isLate = true
    ended.abort()
  }, timeoutMs)
  const onAbort = () => ended.abort()
  signal?.addEventListener('abort', onAbort)
  try {
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${key}`, Accept: 'application/json' },
      redirect: 'manual',
      signal: ended.signal,
    })
    if (response.status === 200) return parseListing(await readBody(response, url), url)
    // Read to its end, so that the connection can serve the next request.
    await readBody(response, url).catch(() => undefined)
    throw errorOf(response, url)
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (error instanceof ServerListingError) throw error
    if (isOfFramework(error)) throw error
    if (isLate) throw timeoutError(request, timeoutMs)
    throw connectionError(request, error)
  } finally {
    cancelTimer()
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Next.js marks the errors that it throws to itself. Without them, it can't build a page. */
function isOfFramework(error: unknown): boolean {
  return typeof (error as { digest?: unknown } | null)?.digest === 'string'
}

async function readBody(response: Response, url: string): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > BODY_BYTES_MAX) {
      // Not awaited: a body that never ends may also never confirm this.
      reader.cancel().catch(() => undefined)
      throw invalid(url, `the body has more than ${BODY_BYTES_MAX} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** The error for a status other than 200. */
function errorOf(response: Response, url: string): ServerListingError {
  const { status, headers, type } = response
  const asked = `GET ${url} answered ${status}`
  const requestId = /^[\w-]{1,64}$/.exec(headers.get('X-Request-Id') ?? '')?.[0] ?? null
  // Browsers hide the status of a redirect.
  if ((status >= 300 && status < 400) || type === 'opaqueredirect')
    return new RedirectError(
      `GET ${url} answered with a redirect${targetOf(headers.get('Location'), url)}. The client does not follow it, because it would send the key there. Set baseUrl to the final address of the API.`,
      { status },
    )
  const transient = { status, requestId, isTransient: true, retryAfterMs: retryAfterOf(headers) }
  switch (status) {
    case 401:
      return new UnauthorizedError(
        `${asked}: the API key is unknown or revoked. Check which key this program has, or issue a new one.`,
        { status },
      )
    case 404:
      return new NotFoundError(`${asked}. Check that baseUrl is the address of the API.`, {
        status,
      })
    case 429:
      return new RateLimitedError(
        `${asked}: another program uses the same API key. Issue a key for each program.`,
        transient,
      )
    case 502:
    case 503:
    case 504:
      return new ServiceError(
        `${asked}: the service fails at the moment. Try again later${requestId === null ? '' : `; tell the operator request id ${requestId} if it lasts`}.`,
        transient,
      )
    default:
      return new UnexpectedStatusError(
        `${asked}, which the API never sends. Check baseUrl and the proxies on the way.`,
        { status, requestId },
      )
  }
}

/** Only whole seconds. A date would need a correct clock on both sides. */
function retryAfterOf(headers: Headers): number {
  const value = headers.get('Retry-After') ?? ''
  return /^\d{1,9}$/.test(value) ? Math.min(Number(value) * 1000, RETRY_AFTER_MS_MAX) : 0
}

/** Without the query, which may contain a secret of the other address. */
function targetOf(location: string | null, url: string): string {
  try {
    const { origin, pathname } = new URL(location ?? '', url)
    return location === null ? '' : ` to ${origin}${pathname}`
  } catch {
    return ''
  }
}
