import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Head, readHead } from '../../../src/http/head.ts'
import { HEAD_BYTES_MAX, LIMITS } from '../../../src/http/limits.ts'
import type { Refusal } from '../../../src/http/message.ts'

/*
 * The reading of heads as a function. The corpus tests the same over connections. These tests show
 * the exact bounds.
 */

interface Given {
  method?: string
  target?: string
  version?: string
  /** Whole header lines. */
  lines?: string[]
}

const LIMIT = { ...LIMITS, targetBytesMax: 20, headerBytesMax: 100, headerLinesMax: 5 }

function textOf({
  method = 'GET',
  target = '/',
  version = '1.1',
  lines = ['Host: x'],
}: Given): string {
  return [`${method} ${target} HTTP/${version}`, ...lines, '', ''].join('\r\n')
}

function read(given: Given): Head {
  const head = readHead(textOf(given), 0, LIMIT)
  assert.ok(head !== null && typeof head === 'object', textOf(given))
  return head
}

function withHost(...lines: string[]): string[] {
  return ['Host: x', ...lines]
}

test('a request is its method, its path, its host and its one Authorization value', () => {
  const given = { method: 'PUT', target: '/a?b', lines: withHost('authorization: Basic y') }
  assert.deepEqual(read(given), {
    method: 'PUT',
    path: '/a',
    host: 'x',
    authorization: 'Basic y',
    flaw: null,
    isLast: false,
    end: textOf(given).length,
  })
  assert.equal(read({}).authorization, null)
})

test('a head is read from its position, behind empty lines, and ends where the next begins', () => {
  const one = textOf({ target: '/1' })
  const text = `${one}\r\n\n\r${textOf({ target: '/2' })}GET /3`
  const first = readHead(text, 0, LIMIT) as Head
  const second = readHead(text, first.end, LIMIT) as Head
  assert.deepEqual([first.path, second.path], ['/1', '/2'])
  assert.equal(text.slice(second.end), 'GET /3')
  assert.equal(readHead(text, second.end, LIMIT), null)
  assert.equal(readHead(text, text.length, LIMIT), null)
})

test('the Authorization header is read in any case, and two of them identify no client', () => {
  for (const name of ['Authorization', 'AUTHORIZATION', 'authorization'])
    assert.equal(read({ lines: withHost(`${name}: a`) }).authorization, 'a')
  const twice = withHost('Authorization: a', 'aUTHORIZATION: a')
  assert.equal(read({ lines: twice }).authorization, null)
  assert.equal(read({ lines: withHost('Authorizatiom: a') }).authorization, null)
  assert.equal(read({ lines: withHost('Authorization:') }).authorization, '')
  assert.equal(read({ lines: withHost('Authorization: \t a \t b\t ') }).authorization, 'a \t b')
})

test('the path is the target up to its question mark, byte for byte', () => {
  const paths = { '/': '/', '/a%2Fb//..': '/a%2Fb//..', '/?': '/', '/a?b?c': '/a', '/a#b': '/a#b' }
  for (const [target, path] of Object.entries({ ...paths, '*': '*', '*x': '*x' }))
    assert.equal(read({ target }).path, path)
})

test('an absolute target counts by its path, whatever host it names', () => {
  const paths: Record<string, string> = {
    'http://a/b': '/b',
    'HTTPS://a.b:1/c?d': '/c',
    'http://a': '/',
    'http://a?b': '/',
    'http://a?b/c': '/',
    'http:///b': '/b',
    'http://a/b/': '/b/',
    'ftp://a/b': 'ftp://a/b',
    'xhttp://a/b': 'xhttp://a/b',
    '/http://a/b': '/http://a/b',
  }
  for (const [target, path] of Object.entries(paths)) assert.equal(read({ target }).path, path)
  for (const target of ['a', 'a/b', 'a:1', 'http:/a/b', 'http://a#b', 'http://a\\b', '1://a', '?a'])
    assert.equal(readHead(textOf({ target }), 0, LIMIT), 400, target)
})

test('an unknown method is a 404 if the request line is valid, before any header', () => {
  const lines = ['FOO / HTTP/1.1', 'FOO / HTTP/1.0', 'foo  *  HTTP/1.1', 'PLAY x HTTP/1.1']
  for (const line of [...lines, "!#$%&'*+.^_`|~-9 x HTTP/1.1"])
    assert.equal(readHead(`${line}\r\n`, 0, LIMIT), 404, line)
  assert.equal(readHead('FOO / HTTP/1.1\r\n\0', 0, LIMIT), 404)
  const [exact, long] = [20, 21].map((bytes) => ({ method: 'FOO', target: 'x'.repeat(bytes) }))
  assert.equal(readHead(textOf(exact!), 0, LIMIT), 404)
  assert.equal(readHead(textOf(long!), 0, LIMIT), 414)
})

test('a request line has three parts, spaces between them and CR LF at its end', () => {
  const bad = ['GET / HTTP/1.2', 'GET / HTTP/0.9', 'GET / HTTP/3.0', 'GET / HTTP/1.1x', 'GET /']
  const parts = ['GET HTTP/1.1', 'GET  HTTP/1.1', ' GET / HTTP/1.1', ' / HTTP/1.1', 'GET / ']
  const bytes = ['G<T / HTTP/1.1', 'GET /\xe4 HTTP/1.1', 'GET\t/ HTTP/1.1', 'GET / /x HTTP/1.1']
  const unknown = ['FOO / HTTP/2.0', 'FOO HTTP/1.1', 'FOO /HTTP/1.1', 'FOO / x HTTP/1.1']
  const others = ['FOO<x HTTP/1.1', 'FOO / HTTP/1.1 ', 'PRI * HTTP/2.0', 'PRI / HTTP/1.1']
  for (const line of [...bad, ...parts, ...bytes, ...unknown, ...others])
    assert.equal(readHead(`${line}\r\n\r\n`, 0, LIMIT), 400, line)
  for (const end of ['\n', '\r\r\n', '\rx'])
    assert.equal(readHead(`GET / HTTP/1.1${end}`, 0, LIMIT), 400, JSON.stringify(end))
})

test('CONNECT names an authority and is a 404', () => {
  assert.equal(connect('x:1'), 404)
  assert.equal(connect('#'), 400)
  assert.equal(connect('x:1', 'Content-Length: x'), 400)
})

function connect(target: string, ...lines: string[]): Head | Refusal | null {
  return readHead(textOf({ method: 'CONNECT', target, lines }), 0, LIMIT)
}

test('only HTTP/1.0 and HTTP/1.1 are supported', () => {
  assert.equal(read({ version: '2.0' }).flaw, 505)
  assert.equal(read({ version: '1.0' }).flaw, null)
})

test('each limit accepts its exact value and refuses one more', () => {
  assert.equal(read({ target: `/${'x'.repeat(19)}` }).flaw, null)
  assert.equal(read({ target: `/${'x'.repeat(20)}` }).flaw, 414)
  const sized = (bytes: number) => read({ lines: withHost(`X:${'x'.repeat(bytes - 6)}`) }).flaw
  assert.deepEqual([sized(100), sized(101)], [null, 431])
  assert.equal(read({ lines: withHost(...Array(4).fill('X:')) }).flaw, null)
  const many = { lines: withHost(...Array(5).fill('X:')) }
  assert.equal(readHead(textOf({ ...many, target: `/${'x'.repeat(19)}` }), 0, LIMIT), 431)
  assert.equal(readHead(textOf({ ...many, target: 'http://x/'.repeat(3) }), 0, LIMIT), 414)
})

test('of several flaws, the framing counts before the version, the sizes and the Host', () => {
  const flaws: [Refusal, flaw: (given: Given) => Given][] = [
    [400, (given) => ({ ...given, lines: [...given.lines!, 'Content-Length: x'] })],
    [505, (given) => ({ ...given, version: '2.0' })],
    [414, (given) => ({ ...given, target: `/${'x'.repeat(20)}` })],
    [431, (given) => ({ ...given, lines: [...given.lines!, `X: ${'x'.repeat(100)}`] })],
    [400, (given) => ({ ...given, lines: [...given.lines!, 'Host: a b'] })],
  ]
  for (const [index, [status]] of flaws.entries()) {
    const given = flaws.slice(index).reduce<Given>((some, [, flaw]) => flaw(some), { lines: [] })
    assert.equal(read(given).flaw, status, textOf(given))
  }
})

test('no more than a fixed number of bytes of a head are read', () => {
  const sizes: [before: string, Refusal][] = [
    ['', 400],
    ['GET ', 414],
    ['GET /', 414],
    ['GET / ', 414],
    [`GET /${'x'.repeat(20)} HTTP/1.1\r\n`, 414],
    ['GET / HTTP/1.1\r\n', 431],
    ['GET / HTTP/1.1\r\nX: ', 431],
  ]
  for (const [before, status] of sizes) {
    const filler = before === 'GET / ' ? ' ' : 'x'
    const text = before + filler.repeat(HEAD_BYTES_MAX - before.length)
    assert.equal(readHead(text.slice(0, -1), 0, LIMIT), null, before)
    for (const more of ['', '\0', '\r\n\r\n'])
      assert.equal(readHead(`\r\n${text}${more}`, 0, LIMIT), status, before)
  }
  const head = textOf({ lines: withHost(`X:${' '.repeat(HEAD_BYTES_MAX - 31)}`) })
  assert.equal(head.length, HEAD_BYTES_MAX)
  assert.equal((readHead(head, 0, LIMIT) as Head).flaw, null)
})

test('an HTTP/1.1 request has one Host, an HTTP/1.0 request at most one', () => {
  const both: [lines: string[], in10: number | null, in11: number | null][] = [
    [[], null, 400],
    [['HOST: x'], null, null],
    [['Host: x', 'host: x'], 400, 400],
    [['Hosr: x'], null, 400],
  ]
  for (const [lines, in10, in11] of both) {
    assert.equal(read({ lines, version: '1.0' }).flaw, in10)
    assert.equal(read({ lines, version: '1.1' }).flaw, in11)
  }
})

test('a Host is a name or an address with an optional port', () => {
  const good = ['', 'a', 'a.b', 'A-z_~!$&()*+,;=%-09', "o'x", 'x:', 'x:1', ':1', '1.2.3.4:80']
  for (const host of [...good, '[::1]', '[::1]:1', '[Ff.9]:'])
    assert.equal(read({ lines: [`Host: ${host}`] }).flaw, null, host)
  const bad = ['a b', 'a/', 'a@b', 'a:b', 'a:1:', 'x[', '[]', '[::1', '::1]', '[::1]x', 'x[::1]']
  for (const host of [...bad, '[g/]', 'a:1x', '\xe4', '<', '[::1]:x'])
    assert.equal(read({ lines: [`Host: ${host}`] }).flaw, 400, host)
})
