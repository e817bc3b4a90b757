import type { Judge } from './judge.ts'
import type { RuleName } from './rules.ts'
import { type Answer, fieldOf, objectOf, tellField } from './wire/answer.ts'
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

const CONTENT_TYPE = ['Content-Type', 'application/json; charset=utf-8'] as const

const CORS: readonly Field[] = [
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
  // A 204 has no content whose type could be told.
  if (answer.status !== 204) judgeFields(judge, 'content-type', exchange, answer, [CONTENT_TYPE])
  judgeFields(judge, 'cors', exchange, answer, CORS)
  judgeField(judge, 'no-store', exchange, answer, ['Cache-Control', 'no-store'])
}

/** A name and a value. */
type Field = readonly [name: string, value: string]

/** Checks that an answer has a field with this value, to the letter. */
export function judgeField(
  judge: Judge,
  rule: RuleName,
  exchange: Exchange,
  answer: Answer,
  [name, value]: Field,
): void {
  judge.expect(rule, fieldOf(answer, name) === value, {
    exchange,
    expected: `${name}: ${value}`,
    seen: tellField(answer, name),
  })
}

/** Checks that an answer has these fields, in any spelling, and then how they are spelled. */
function judgeFields(
  judge: Judge,
  rule: RuleName,
  exchange: Exchange,
  answer: Answer,
  fields: readonly Field[],
): void {
  const isRight = ([name, value]: Field) =>
    canonical(fieldOf(answer, name) ?? '') === canonical(value)
  const wrong = fields.filter((field) => !isRight(field))
  judge.expect(rule, wrong.length === 0, {
    exchange,
    expected: wrong.map(([name, value]) => `${name}: ${value}`).join(', '),
    seen: `${answer.status} with ${wrong.map(([name]) => tellField(answer, name)).join(', ')}`,
  })
  for (const field of fields.filter(isRight)) judgeField(judge, 'spelling', exchange, answer, field)
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
