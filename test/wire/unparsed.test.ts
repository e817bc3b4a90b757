import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ParserError, statusForUnparsed } from '../../src/http/unparsed.ts'

/*
 * The status for what the parser could not read, by what it says of it.
 */

function status(fields: Partial<ParserError>, unread = ''): number | null {
  return statusForUnparsed(Object.assign(new Error('parse error'), fields), unread)
}

const overflow = (text: string, bytesParsed = text.length) =>
  status({ code: 'HPE_HEADER_OVERFLOW', rawPacket: Buffer.from(text, 'latin1'), bytesParsed })
const unknownMethod = (unread: string) => status({ code: 'HPE_INVALID_METHOD' }, unread)

test('a head that took too long is 408, and any other bytes are 400', () => {
  assert.equal(status({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }), 408)
  assert.equal(status({ code: 'HPE_INVALID_TOKEN' }), 400)
  assert.equal(status({}), 400)
})

test('a method that only RTSP has is not found; other constants that are none are 400', () => {
  const code = 'HPE_INVALID_CONSTANT'
  assert.equal(status({ code, reason: 'Invalid method for HTTP/x.x request' }), 404)
  assert.equal(status({ code, reason: 'Expected HTTP/' }), 400)
})

test('what outgrew the parser is a target where its first line had not ended, and else headers', () => {
  for (const target of ['GET /', 'GET /xx', 'M-SEARCH  /x', 'GET / HTTP/1.1\r\n\r\nPUT /x'])
    assert.equal(overflow(target), 414, target)
  for (const headers of [
    'GET / HTTP/1.1\r\nX: x',
    'GET /x\r',
    'GET / ',
    'x',
    'xGET',
    'get /',
    'x: GET /',
  ])
    assert.equal(overflow(headers), 431, headers)
  // What comes behind the place where it stopped says nothing.
  assert.equal(overflow('GET /x HTTP/1.1', 6), 414)
})

test('a method nobody knows is not found, if it is a request', () => {
  for (const line of [
    'FOO / HTTP/1.1',
    'FOO / HTTP/1.0',
    'foo  *  HTTP/1.1',
    ' / HTTP/1.1',
    "!#$%&'*+.^_`|~-9 x HTTP/1.1",
  ])
    assert.equal(unknownMethod(`${line}\r\n`), 404, line)
  for (const line of [
    'FOO / HTTP/2.0',
    'FOO / HTTP/1.2',
    'FOO / HTTP/1.1x',
    'FOO HTTP/1.1',
    'FOO  HTTP/1.1',
    'FOO/ HTTP/1.1',
    'FOO /HTTP/1.1',
    'FOO /ä HTTP/1.1',
    'F<O / HTTP/1.1',
    'FOO / x HTTP/1.1',
    '{ FOO / HTTP/1.1',
  ])
    assert.equal(unknownMethod(`${line}\r\n`), 400, line)
  assert.equal(unknownMethod('FOO / HTTP/1.1\n'), 400)
  assert.equal(unknownMethod('FOO / HTTP/1.1\r\nFOO / HTTP/9'), 404)
})

test('of a line that has not ended the rest is waited for, as long as it can become one', () => {
  for (const line of ['', 'F', 'FOO /', 'FOO / HTTP/1.1', 'FOO / HTTP/1.1\r', '~ ~'])
    assert.equal(unknownMethod(line), null, line)
  for (const line of ['\0', 'FOO ä', '\tx', 'FOO\x7f', 'FOO / HTTP/1.1\r\x01'])
    assert.equal(unknownMethod(line), 400, line)
})

test('a line of more than 8 kB is too long where it began like a request, and else 400', () => {
  assert.equal(unknownMethod(line(8_192)), null)
  assert.equal(unknownMethod(line(8_193)), 414)
  assert.equal(unknownMethod(`${line(8_192)}\x01`), 414)
  assert.equal(unknownMethod(`${line(9_000)} HTTP/1.1\r\n`), 414)
  assert.equal(unknownMethod(`FOO   /${'x'.repeat(9_000)}`), 414)
  assert.equal(unknownMethod(`<${line(9_000)}`), 400)
  assert.equal(unknownMethod('x'.repeat(9_000)), 400)
  assert.equal(unknownMethod(`FOO / HTTP/1.1${' '.repeat(9_000)}`), 400)
  const whole = `${line(8_192 - ' HTTP/1.1\r\n'.length)} HTTP/1.1\r\n`
  assert.equal(unknownMethod(whole), 404)
})

function line(length: number): string {
  return `FOO /${'x'.repeat(length - 5)}`
}
