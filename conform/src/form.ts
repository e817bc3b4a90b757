import type { Judge } from './judge.ts'
import type { RuleName } from './rules.ts'
import { type Answer, fieldOf, objectOf } from './wire/answer.ts'
import type { Exchange } from './wire/connection.ts'

/*
 * The form of every answer (spec 7). The sentences stand here a second time on purpose: the kit
 * judges by the specification, and not by the code of one service.
 */

const SENTENCES: Record<number, readonly string[]> = {
  401: ['Invalid or missing API key.'],
  404: ['Not found.'],
  429: ['Rate limit exceeded'],
  502: ['Failed to load servers.', 'Authentication service error.'],
  503: ['API server is not configured.'],
}

const CONTENT_TYPE = 'application/json; charset=utf-8'

const CORS: readonly (readonly [name: string, value: string])[] = [
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Allow-Methods', 'GET, OPTIONS'],
  ['Access-Control-Allow-Headers', 'Authorization, Content-Type'],
  ['Access-Control-Max-Age', '86400'],
]

/**
 * Checks what every answer must have. `status` is that of the rule; null accepts any status above
 * 399, for requests that a server may refuse for their size.
 */
export function judgeAnswer(
  judge: Judge,
  rule: RuleName,
  exchange: Exchange,
  status: number | null,
): exchange is Exchange & { answer: Answer } {
  const { answer, surplus } = exchange
  judge.expect('one-answer', answer !== null && surplus === '', {
    exchange,
    expected: 'one answer',
  })
  if (answer === null) return false
  const isExpected = status === null ? answer.status >= 400 : answer.status === status
  judge.expect(rule, isExpected, { exchange, expected: status === null ? 'a 4xx' : String(status) })
  if (status !== null || answer.status >= 500) judgeStatus(judge, exchange, answer)
  judgeHeaders(judge, exchange, answer)
  if (answer.status >= 400 && !exchange.sent.startsWith('HEAD '))
    judgeError(judge, exchange, answer)
  return isExpected
}

function judgeStatus(judge: Judge, exchange: Exchange, { status }: Answer): void {
  const known = [200, 204, ...Object.keys(SENTENCES).map(Number)]
  judge.expect('known-status', known.includes(status), {
    exchange,
    expected: `one of ${known.join(', ')}`,
  })
}

function judgeHeaders(judge: Judge, exchange: Exchange, answer: Answer): void {
  const type = fieldOf(answer, 'content-type')
  // A 204 has no content whose type could be told.
  if (answer.status !== 204) {
    const holds = type !== null && canonical(type) === canonical(CONTENT_TYPE)
    judge.expect('content-type', holds, {
      exchange,
      expected: CONTENT_TYPE,
      seen: `${answer.status} with ${type ?? 'no Content-Type'}`,
    })
    if (holds) judgeSpelling(judge, exchange, 'Content-Type', type, CONTENT_TYPE)
  }
  judgeCors(judge, exchange, answer)
  const caching = fieldOf(answer, 'cache-control')
  judge.expect('no-store', caching === 'no-store', {
    exchange,
    expected: 'no-store',
    seen: caching === null ? 'no Cache-Control' : `Cache-Control: ${caching}`,
  })
}

function judgeCors(judge: Judge, exchange: Exchange, answer: Answer): void {
  const found = CORS.map(([name, value]) => {
    return { name, value, found: fieldOf(answer, name.toLowerCase()) }
  })
  const wrong = found.filter(
    ({ value, found }) => found === null || canonical(found) !== canonical(value),
  )
  judge.expect('cors', wrong.length === 0, {
    exchange,
    expected: wrong.map(({ name, value }) => `${name}: ${value}`).join(', '),
    seen: `${answer.status} with ${wrong
      .map(({ name, found }) => (found === null ? `no ${name}` : `${name}: ${found}`))
      .join(', ')}`,
  })
  for (const { name, value, found: text } of found)
    if (text !== null && !wrong.some((one) => one.name === name))
      judgeSpelling(judge, exchange, name, text, value)
}

function judgeSpelling(
  judge: Judge,
  exchange: Exchange,
  name: string,
  found: string,
  value: string,
): void {
  const seen = `${name}: ${found}`
  judge.expect('spelling', found === value, { exchange, expected: `${name}: ${value}`, seen })
}

/** HTTP gives spellings of a list the same meaning: case, spaces and order (RFC 9110, 5.6). */
function canonical(value: string): string {
  return value
    .toLowerCase()
    .split(/[,;]/)
    .map((part) => part.trim())
    .toSorted()
    .join()
}

function judgeError(judge: Judge, exchange: Exchange, answer: Answer): void {
  const error = objectOf(answer)?.error
  const isObject = typeof error === 'string'
  judge.expect('error-format', isObject, { exchange, expected: 'an object with a string `error`' })
  const sentences = SENTENCES[answer.status]
  if (!isObject || sentences === undefined) return
  judge.expect('error-text', sentences.includes(error), {
    exchange,
    expected: `\`error\` is ${sentences.map((sentence) => JSON.stringify(sentence)).join(' or ')}`,
  })
}
