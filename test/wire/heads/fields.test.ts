import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Head, readHead } from '../../../src/http/head.ts'
import { LIMITS } from '../../../src/http/limits.ts'

/* The syntax of header lines (RFC 9112, 5). */

const LINE = 'GET / HTTP/1.1\r\n'

test('a header line is a name, a colon and a value of visible bytes', () => {
  const good = ['a:b', 'a: b c ', "!#$%&'*+-.^_`|~9:", 'a:\t\xe4\xff\t']
  for (const line of good) {
    const head = readHead(`${LINE}Host: x\r\n${line}\r\n\r\n`, 0, LIMITS) as Head
    assert.equal(head.flaw, null, line)
  }
  const bad = ['a', 'no colon', 'a b: c', 'a : b', 'a\t: b', ': b', ' a: b', '\ta: b', 'a(b): c']
  for (const line of [...bad, '\xe4: b', 'a: b\0', 'a: \x7f', 'a: b\x01c'])
    assert.equal(readHead(`${LINE}Host: x\r\n${line}\r\n\r\n`, 0, LIMITS), 400, line)
})

test('a header line and the empty line behind them end with CR LF', () => {
  for (const end of ['\n', '\r\r\n', '\rx']) {
    assert.equal(readHead(`${LINE}Host: x${end}`, 0, LIMITS), 400, JSON.stringify(end))
    assert.equal(readHead(`${LINE}Host: x\r\n${end}`, 0, LIMITS), 400, JSON.stringify(end))
  }
})

test('a head is incomplete up to its last byte', () => {
  const text = `${LINE}Host: x\r\nA: \t b\t \r\n\r\n`
  for (let length = 0; length < text.length; length += 1)
    assert.equal(readHead(text.slice(0, length), 0, LIMITS), null, text.slice(0, length))
  assert.equal((readHead(text, 0, LIMITS) as Head).end, text.length)
})
