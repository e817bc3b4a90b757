import assert from 'node:assert/strict'
import type { Answer } from '../fixtures/requests.ts'

/** The headers of every API answer, byte for byte (spec 7.4, 7.5). */
export function assertCommonHeaders({ status, headers }: Answer): void {
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(headers['access-control-allow-origin'], '*')
  assert.equal(headers['access-control-allow-methods'], 'GET, OPTIONS')
  assert.equal(headers['access-control-allow-headers'], 'Authorization, Content-Type')
  assert.equal(headers['access-control-max-age'], '86400')
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  const cors = Object.keys(headers).filter((name) => name.startsWith('access-control-'))
  assert.equal(cors.length, 4)
  assert.equal(headers.etag, undefined)
  if (status < 500) assert.equal(headers['x-request-id'], undefined)
}

/** Asserts the status and the exact body. */
export function assertAnswer(answer: Answer, status: number, body: string): void {
  assert.equal(answer.status, status)
  assert.equal(answer.body, body)
  assertCommonHeaders(answer)
}
