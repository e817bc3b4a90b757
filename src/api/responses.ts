import type { Refusal, Response } from '../http/message.ts'
import { renderHead } from '../http/render.ts'

/*
 * Every answer of the public API (spec 4 and 7). Each sentence stands here and nowhere else, and to
 * the byte: only the one about the rate limit has no full stop.
 */

/** Routes that answers are counted under. */
export const ROUTES = {
  servers: '/v1/servers',
  health: '/health',
  preflight: 'OPTIONS',
  unknown: 'unknown',
} as const

/** Headers of every answer: the content type (spec 7.4), CORS (spec 7.5) and no caching. */
const COMMON_HEADERS = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Allow-Methods',
  'GET, OPTIONS',
  'Access-Control-Allow-Headers',
  'Authorization, Content-Type',
  'Access-Control-Max-Age',
  '86400',
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
]

/** The answer to a preflight has no body, and so no length (RFC 9110, 8.6). */
export const preflight: Response = {
  status: 204,
  head: renderHead(204, COMMON_HEADERS),
  body: Buffer.alloc(0),
  route: ROUTES.preflight,
  apiKeyId: null,
}

export const healthy = json(200, ROUTES.health, { ok: true })

export const notFound = json(404, ROUTES.unknown, { error: 'Not found.' })

/**
 * One answer for every reason, so a client can't tell the reasons apart. HTTP demands the challenge
 * (RFC 9110, 15.5.2).
 */
export const unauthorized = json(401, ROUTES.servers, { error: 'Invalid or missing API key.' }, [
  'WWW-Authenticate',
  'Bearer',
])

const limited = json(429, ROUTES.servers, { error: 'Rate limit exceeded', limit: '1 rps' }, [
  'Retry-After',
  '1',
])

export const authenticationFailed = json(502, ROUTES.servers, {
  error: 'Authentication service error.',
})

export const listFailed = json(502, ROUTES.servers, { error: 'Failed to load servers.' })

export const notConfigured = json(503, ROUTES.servers, { error: 'API server is not configured.' })

/** The same bytes as for an unknown key. Only the usage counter learns the key's id. */
export function revoked(apiKeyId: string): Response {
  return { ...unauthorized, apiKeyId }
}

export function rateLimited(apiKeyId: string): Response {
  return { ...limited, apiKeyId }
}

/** A 5xx with the id under which the log has its fault. */
export function withRequestId(response: Response, id: string | undefined): Response {
  if (id === undefined) return response
  const line = Buffer.from(`X-Request-Id: ${id}\r\n`, 'latin1')
  return { ...response, head: Buffer.concat([response.head, line]) }
}

const LISTED_HEAD = renderHead(200, COMMON_HEADERS)

/** The 200 with a rendered listing as its body. */
export function listed(body: Buffer, apiKeyId: string): Response {
  return { status: 200, head: LISTED_HEAD, body, route: ROUTES.servers, apiKeyId }
}

const REFUSALS: Record<Refusal, Response> = {
  400: json(400, ROUTES.unknown, { error: 'Bad request.' }),
  404: notFound,
  408: json(408, ROUTES.unknown, { error: 'Request timeout.' }),
  414: json(414, ROUTES.unknown, { error: 'URI too long.' }),
  431: json(431, ROUTES.unknown, { error: 'Request header fields too large.' }),
  505: json(505, ROUTES.unknown, { error: 'HTTP version not supported.' }),
}

/**
 * The answer to bytes that are not an HTTP request. The specification does not cover them; the body
 * has its error form (spec 7.1).
 */
export function refusal(status: Refusal): Response {
  return REFUSALS[status]
}

function json(
  status: number,
  route: string,
  value: object,
  headers: readonly string[] = [],
): Response {
  const body = Buffer.from(JSON.stringify(value))
  const head = renderHead(status, [...COMMON_HEADERS, ...headers])
  return { status, head, body, route, apiKeyId: null }
}
