import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAnswer } from '../src/wire/answer.ts'

/** Reads an answer to GET. */
function read(text: string, hasEnded = false) {
  const reading = readAnswer(text, false, hasEnded)
  return typeof reading === 'string' ? reading : [reading.answer.body, reading.end === text.length]
}

const OK = 'HTTP/1.1 200 OK\r\n'

test('an answer ends after its length, its last chunk, or with the connection', () => {
  assert.deepEqual(read(`${OK}Content-Length: 2\r\n\r\n{}`), ['{}', true])
  assert.deepEqual(read(`${OK}Content-Length: 2\r\n\r\n{}HTTP`), ['{}', false])
  const chunks = '1;x=y\r\n{\r\n1\r\n}\r\n0\r\n'
  assert.deepEqual(read(`${OK}Transfer-Encoding: chunked\r\n\r\n${chunks}\r\n`), ['{}', true])
  assert.deepEqual(read(`${OK}Transfer-Encoding: chunked\r\n\r\n${chunks}A: b\r\n\r\n`), [
    '{}',
    true,
  ])
  assert.equal(read(`${OK}\r\n{}`), 'incomplete')
  assert.deepEqual(read(`${OK}\r\n{}`, true), ['{}', true])
})

test('an answer is incomplete up to its last byte, and cut off if the connection ends there', () => {
  for (const whole of [
    `${OK}Content-Length: 2\r\n\r\n{}`,
    `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    'HTTP/1.1 204 No Content\r\n\r\n',
  ])
    for (let length = 0; length < whole.length; length += 1) {
      assert.equal(read(whole.slice(0, length)), 'incomplete', whole.slice(0, length))
      assert.equal(read(whole.slice(0, length), true), 'no answer', whole.slice(0, length))
    }
})

test('answers to HEAD, 204 and 304 have no body, and interim answers are passed over', () => {
  const head = readAnswer('HTTP/1.1 404 Not Found\r\nContent-Length: 22\r\n\r\n', true, false)
  assert.ok(typeof head === 'object')
  assert.equal(head.answer.status, 404)
  assert.deepEqual(read('HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n'), ['', true])
  assert.deepEqual(read('HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n'), ['', true])
  assert.deepEqual(read(`HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 1\r\n\r\n1`), [
    '1',
    true,
  ])
})

test('other bytes are no answer', () => {
  for (const text of [
    'hello',
    '{"servers":[]}',
    'HTTP/2 200\r\n\r\n',
    'HTTP/1.1 20 OK\r\n\r\n',
    `${OK}no colon\r\n\r\n`,
    `${OK}Content-Length: x\r\n\r\n`,
    `${OK}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`,
  ])
    assert.equal(read(text), 'no answer', text)
})

test('fields are found in any case, with all their values', () => {
  const reading = readAnswer(`${OK}A: 1\r\na:\t2 \r\nContent-Length: 0\r\n\r\n`, false, false)
  assert.ok(typeof reading === 'object')
  assert.deepEqual(reading.answer.fields.get('a'), ['1', '2'])
})
