import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Head, readHead } from '../../../src/http/head.ts'
import { LIMITS } from '../../../src/http/limits.ts'

/* After which requests nothing is read, and which framings are refused (RFC 9112, 6 and 9.3). */

function read(version: '1.0' | '1.1', ...lines: string[]): Head {
  const text = [`GET / HTTP/${version}`, 'Host: x', ...lines, '', ''].join('\r\n')
  return readHead(text, 0, LIMITS) as Head
}

test('nothing is read after a request with a body or an upgrade', () => {
  for (const name of ['Upgrade', 'upgradE', 'Transfer-Encoding', 'transfer-encodinG'])
    for (const value of ['chunked', 'x'])
      assert.equal(read('1.1', `${name}: ${value}`).isLast, true)
  for (const name of ['Content_Length', 'Upgrads', 'Transfer-Encodinx', 'Accept'])
    assert.equal(read('1.1', `${name}: 7`).isLast, false, name)
  for (const value of ['0', '000'])
    assert.equal(read('1.1', `CONTENT-LENGTH: ${value}`).isLast, false)
  assert.equal(read('1.1', 'CONTENT-LENGTH: 7').isLast, true)
})

test('a length is a number of at most 64 bits, and there is one', () => {
  const max = 2n ** 64n - 1n
  for (const length of ['0', '007', `${'0'.repeat(30)}7`, String(max)])
    assert.equal(read('1.1', `Content-Length: ${length}`).flaw, null, length)
  for (const length of ['', '-1', '+1', '1.0', '0x1', '1 1', '1,1', String(max + 1n)])
    assert.equal(read('1.1', `Content-Length: ${length}`).flaw, 400, length)
  assert.equal(read('1.1', 'Content-Length: 0', 'Content-Length: 0').flaw, 400)
  assert.equal(read('1.1', 'Content-Length: 0', 'Transfer-Encoding: chunked').flaw, 400)
})

test('chunked is accepted only in HTTP/1.1, only once and without another coding', () => {
  const flaw = (...codings: string[]) =>
    read('1.1', ...codings.map((coding) => `Transfer-Encoding: ${coding}`)).flaw
  assert.equal(flaw('chunked'), null)
  assert.equal(flaw('Chunked'), null)
  assert.equal(flaw('chunked', 'chunked'), 400)
  assert.equal(flaw('gzip', 'chunked'), 400)
  for (const coding of ['', 'gzip', 'gzip, chunked', 'chunked, gzip', 'chunked, chunked'])
    assert.equal(flaw(coding), 400, coding)
  assert.equal(read('1.0', 'Transfer-Encoding: chunked').flaw, 400)
})

test('a client can ask to close the connection; an HTTP/1.0 client has to ask to keep it', () => {
  for (const value of ['close', 'CLOSE', 'keep-alive, close', 'close,keep-alive', 'x,\t close \t,'])
    for (const version of ['1.0', '1.1'] as const)
      assert.equal(read(version, `cONNECTION: ${value}`).isLast, true, value)
  for (const value of ['keep-alive', 'Keep-Alive', 'x, keep-alive', 'keep-alive,closed'])
    for (const version of ['1.0', '1.1'] as const)
      assert.equal(read(version, `Connection: ${value}`).isLast, false, value)
  for (const value of [
    '',
    'xclose',
    'close x',
    'x close',
    'close;x',
    'keep-alive x',
    'xkeep-alive',
    'keep-alives',
  ]) {
    assert.equal(read('1.0', `Connection: ${value}`).isLast, true, value)
    assert.equal(read('1.1', `Connection: ${value}`).isLast, false, value)
  }
  assert.equal(read('1.0').isLast, true)
  assert.equal(read('1.1').isLast, false)
  assert.equal(read('1.1', 'Connectiox: close').isLast, false)
  assert.equal(read('1.0', 'Connection: close', 'Connection: keep-alive').isLast, true)
  assert.equal(read('1.0', 'Connection: keep-alive', 'Connection: close').isLast, true)
})

test('a client that waits for a 100 may send its body without one', () => {
  for (const value of ['100-continue', '100-CONTINUE', 'x, 100-continue'])
    assert.equal(read('1.1', `Expect: ${value}`).isLast, true, value)
  for (const value of ['', '200-maybe', '100-continued', 'x100-continue'])
    assert.equal(read('1.1', `Expect: ${value}`).isLast, false, value)
  assert.equal(read('1.1', 'Expect: 100-continue', 'Expect: x').isLast, true)
  // HTTP/1.0 has no 100 (RFC 9110, 10.1.1).
  assert.equal(read('1.0', 'Connection: keep-alive', 'Expect: 100-continue').isLast, false)
})
