import { COMMON } from '../../../wire/client/outcome.ts'
import type { RawAnswer } from '../../../wire/client/read-answer.ts'

/*
 * What each answer must be, to the byte, whatever fails (spec 2.1, 7.2, 7.4, 7.5). Written from the
 * specification, not from the program.
 */

export const AUTHENTICATION_FAILED = 'Authentication service error.'
export const LISTS_FAILED = 'Failed to load servers.'

/** Bodies that a request with a key may get, by status. */
const ERRORS: Readonly<Record<number, readonly object[]>> = {
  401: [{ error: 'Invalid or missing API key.' }],
  429: [{ error: 'Rate limit exceeded', limit: '1 rps' }],
  502: [{ error: AUTHENTICATION_FAILED }, { error: LISTS_FAILED }],
}

const FIELDS = 'id,name,slug,address,edition,status,version,listing_kind'

const HEADERS: Readonly<Record<string, string>> = COMMON
const HEADERS_OF_STATUS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'Bearer' },
  429: { 'retry-after': '1' },
}
/** Header fields of the transport, which don't change the meaning of the answer. */
const FREE = new Set(['content-length', 'date', 'connection', 'keep-alive'])

/**
 * What is wrong with the form of an answer to a request with a key, or for the health; null if
 * nothing is.
 */
export function flawOf(answer: RawAnswer, asked: 'get' | 'health'): string | null {
  return flawOfHeaders(answer) ?? (asked === 'health' ? flawOfHealth(answer) : flawOfBody(answer))
}

function flawOfHeaders({ status, headers }: RawAnswer): string | null {
  const wanted = { ...HEADERS, ...HEADERS_OF_STATUS[status] }
  for (const [name, value] of Object.entries(wanted))
    if (headers[name] !== value)
      return `a ${status} has ${name}: ${headers[name] ?? 'nothing'} instead of ${value}`
  // The specification names no header of a 5xx, and forbids none.
  const isFree = (name: string) => FREE.has(name) || (status >= 500 && name === 'x-request-id')
  const strange = Object.keys(headers).find((name) => !(name in wanted) && !isFree(name))
  return strange === undefined ? null : `a ${status} has a header field ${strange}`
}

function flawOfHealth({ status, body }: RawAnswer): string | null {
  if (status === 200 && body === '{"ok":true}') return null
  return `the health is ${status} with the body ${body}`
}

function flawOfBody({ status, body }: RawAnswer): string | null {
  if (status === 200) return flawOfListing(body)
  const allowed = ERRORS[status]?.map((error) => JSON.stringify(error)) ?? []
  return allowed.includes(body) ? null : `a ${status} has the body ${body}`
}

function flawOfListing(body: string): string | null {
  const { servers, ...rest } = JSON.parse(body) as { servers: object[] }
  if (Object.keys(rest).length > 0) return `a listing has ${Object.keys(rest).join(', ')}, too`
  const odd = servers.map((server) => Object.keys(server).join()).find((names) => names !== FIELDS)
  return odd === undefined ? null : `a server has the fields ${odd}`
}
