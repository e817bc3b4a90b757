import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RawAnswer } from '../../../wire/client/read-answer.ts'
import { flawOf } from './expected-answers.ts'
import { COMMON } from '../../../wire/client/outcome.ts'

/*
 * Under faults, too, every answer has the status, sentence, content type and header fields of the
 * specification.
 */

const HEADERS = { ...COMMON, date: 'today' }

function answer(status: number, body: string, headers: Record<string, string> = {}): RawAnswer {
  return { status, headers: { ...HEADERS, ...headers }, body, text: '' }
}

const RIGHT = [
  answer(200, '{"servers":[]}'),
  answer(401, '{"error":"Invalid or missing API key."}', { 'www-authenticate': 'Bearer' }),
  answer(429, '{"error":"Rate limit exceeded","limit":"1 rps"}', { 'retry-after': '1' }),
  answer(502, '{"error":"Authentication service error."}'),
  answer(502, '{"error":"Failed to load servers."}'),
]

test('the answers of the specification have no flaw', () => {
  for (const one of RIGHT) assert.equal(flawOf(one, 'get'), null)
  assert.equal(flawOf(answer(200, '{"ok":true}'), 'health'), null)
})

test('a sentence of another status is a flaw', () => {
  for (const { status, headers } of RIGHT)
    for (const { status: other, body } of RIGHT)
      if (other !== status && status !== 200)
        assert.match(flawOf({ status, headers, body, text: '' }, 'get')!, /has the body/)
})

test('a header field that is missing, different or unexpected is a flaw', () => {
  for (const one of RIGHT)
    for (const name of Object.keys(one.headers).filter((key) => key !== 'date')) {
      const { [name]: _, ...rest } = one.headers
      assert.match(flawOf({ ...one, headers: rest }, 'get')!, new RegExp(`has ${name}: nothing`))
      const headers = { ...one.headers, [name]: 'other' }
      assert.match(flawOf({ ...one, headers }, 'get')!, new RegExp(`has ${name}: other`))
    }
  for (const one of RIGHT)
    assert.match(flawOf({ ...one, headers: { ...one.headers, etag: '1' } }, 'get')!, /field etag/)
})

test('only a 5xx may have a request id', () => {
  for (const one of RIGHT) {
    const flaw = flawOf({ ...one, headers: { ...one.headers, 'x-request-id': 'a-1' } }, 'get')
    if (one.status === 502) assert.equal(flaw, null)
    else assert.match(flaw!, /field x-request-id/)
  }
})

test('an unknown status, another shape of a listing and an unhealthy health are flaws', () => {
  assert.match(flawOf(answer(500, '{"error":"Oops"}'), 'get')!, /a 500 has the body/)
  assert.match(flawOf(answer(200, '{"servers":[],"next":1}'), 'get')!, /has next, too/)
  assert.match(flawOf(answer(200, '{"servers":[{"id":"1"}]}'), 'get')!, /has the fields id/)
  assert.match(flawOf(answer(200, '{"ok":false}'), 'health')!, /the health is 200/)
})
