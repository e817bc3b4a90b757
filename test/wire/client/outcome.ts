import assert from 'node:assert/strict'
import type { RawAnswer } from './read-answer.ts'

/** The result of a request: a status, or a name if the status has several bodies. */
export type Outcome =
  | 'health'
  | 'listing'
  | AnswerToHead
  | 204
  | 400
  | 401
  | 404
  | 408
  | 414
  | 429
  | 431
  | 505

/** An answer to HEAD: everything except the body. */
type AnswerToHead = `head ${400 | 404 | 414 | 431 | 505}`

const OUTCOMES: Record<Outcome, [status: number, body: string, headers?: Record<string, string>]> =
  {
    health: [200, '{"ok":true}'],
    listing: [200, '{"servers":[]}'],
    'head 400': [400, ''],
    'head 404': [404, ''],
    'head 414': [414, ''],
    'head 431': [431, ''],
    'head 505': [505, ''],
    204: [204, ''],
    400: [400, '{"error":"Bad request."}'],
    401: [401, '{"error":"Invalid or missing API key."}', { 'www-authenticate': 'Bearer' }],
    404: [404, '{"error":"Not found."}'],
    408: [408, '{"error":"Request timeout."}'],
    414: [414, '{"error":"URI too long."}'],
    429: [429, '{"error":"Rate limit exceeded","limit":"1 rps"}', { 'retry-after': '1' }],
    431: [431, '{"error":"Request header fields too large."}'],
    505: [505, '{"error":"HTTP version not supported."}'],
  }

/** The header fields of every answer. */
export const COMMON = {
  'content-type': 'application/json; charset=utf-8',
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, OPTIONS',
  'access-control-allow-headers': 'Authorization, Content-Type',
  'access-control-max-age': '86400',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

export function statusOf(outcome: Outcome): number {
  return OUTCOMES[outcome][0]
}

/** The indexes of answers to HEAD requests, which have no body. */
export function headsAmong(outcomes: readonly Outcome[]): number[] {
  return outcomes.flatMap((outcome, index) => (isAnswerToHead(outcome) ? [index] : []))
}

function isAnswerToHead(outcome: Outcome): outcome is AnswerToHead {
  return String(outcome).startsWith('head ')
}

/** Asserts these answers in this order, each with exactly the required headers. */
export function assertOutcomes(
  answers: readonly RawAnswer[],
  outcomes: readonly Outcome[],
  isLastClosing: boolean,
): void {
  const seen = answers.map(({ status, body }) => `${status} ${body}`)
  const expected = outcomes.map((outcome) => `${OUTCOMES[outcome][0]} ${OUTCOMES[outcome][1]}`)
  assert.deepEqual(seen, expected)
  for (const [index, answer] of answers.entries())
    assertHeaders(answer, outcomes[index]!, isLastClosing && index === answers.length - 1)
}

function assertHeaders({ headers }: RawAnswer, outcome: Outcome, isClosing: boolean): void {
  const [status, body, extra] = OUTCOMES[outcome]
  const length = status === 204 ? {} : { 'content-length': String(lengthOf(outcome, body)) }
  const { date = '', connection, 'keep-alive': keepAlive, ...rest } = headers
  assert.deepEqual(rest, { ...COMMON, ...length, ...extra })
  assert.equal(new Date(date).toUTCString(), date)
  if (isClosing) assert.deepEqual([connection, keepAlive], ['close', undefined])
  else assert.deepEqual([connection, keepAlive], ['keep-alive', 'timeout=75'])
}

/** The Content-Length of an answer to HEAD is that of the omitted body. */
function lengthOf(outcome: Outcome, body: string): number {
  if (!isAnswerToHead(outcome)) return body.length
  const status = Number(outcome.slice('head '.length)) as 400 | 404 | 414 | 431 | 505
  return OUTCOMES[status][1].length
}
