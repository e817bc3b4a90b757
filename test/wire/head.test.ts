import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { type Head, readHead } from '../../src/http/head.ts'
import { LIMITS } from '../../src/http/limits.ts'

/*
 * What is read of a head that the parser let pass. The corpus says the same from outside, with a connection for each
 * case; here stand the bounds, one beside the other.
 */

interface Message {
  method?: string
  url?: string
  version?: [major: number, minor: number]
  /** Names and values in turn. */
  headers?: string[]
}

const HOST = ['Host', 'x']
const LIMIT = { ...LIMITS, targetBytesMax: 20, headerBytesMax: 100, headerLinesMax: 5 }

function read({ method = 'GET', url = '/', version = [1, 1], headers = HOST }: Message): Head {
  const message = new IncomingMessage(new Socket())
  const [httpVersionMajor, httpVersionMinor] = version
  Object.assign(message, { method, url, httpVersionMajor, httpVersionMinor, rawHeaders: headers })
  return readHead(message, LIMIT)
}

test('a request is its method, its path and its one Authorization value', () => {
  assert.deepEqual(
    read({ method: 'PUT', url: '/a?b', headers: ['Host', 'x', 'authorization', 'Basic y'] }),
    {
      request: { method: 'PUT', path: '/a', authorization: 'Basic y' },
      flaw: null,
      isLast: false,
    },
  )
  assert.equal(read({}).request.authorization, null)
})

test('Authorization in any case is read, and two of them name nobody, whatever they say', () => {
  for (const name of ['Authorization', 'AUTHORIZATION', 'authorization'])
    assert.equal(read({ headers: [...HOST, name, 'a'] }).request.authorization, 'a')
  const twice = [...HOST, 'Authorization', 'a', 'aUTHORIZATION', 'a']
  assert.equal(read({ headers: twice }).request.authorization, null)
  assert.equal(read({ headers: [...HOST, 'Authorizatiom', 'a'] }).request.authorization, null)
  assert.equal(read({ headers: [...HOST, 'Authorization', ''] }).request.authorization, '')
})

test('the path is the target up to its question mark, byte for byte', () => {
  const paths: Record<string, string> = {
    '/': '/',
    '/a%2Fb//..': '/a%2Fb//..',
    '/?': '/',
    '/a?b?c': '/a',
    '/a#b': '/a#b',
    '*': '*',
    'example.com:1': 'example.com:1',
  }
  for (const [url, path] of Object.entries(paths)) assert.equal(read({ url }).request.path, path)
})

test('an absolute target is that of its path, whomever it names', () => {
  const paths: Record<string, string> = {
    'http://a/b': '/b',
    'HTTPS://a.b:1/c?d': '/c',
    'http://a': '/',
    'http://a?b': '/',
    'http://a#b': '/#b',
    'http:///b': '/b',
    'ftp://a/b': 'ftp://a/b',
    'xhttp://a/b': 'xhttp://a/b',
    'http:/a/b': 'http:/a/b',
    '/http://a/b': '/http://a/b',
  }
  for (const [url, path] of Object.entries(paths)) assert.equal(read({ url }).request.path, path)
})

test('only HTTP/1.0 and HTTP/1.1 are spoken', () => {
  assert.equal(read({ version: [2, 0] }).flaw, 505)
  assert.equal(read({ version: [0, 9] }).flaw, 400)
  assert.equal(read({ version: [1, 0] }).flaw, null)
})

test('each limit is what is only just taken', () => {
  assert.equal(read({ url: `/${'x'.repeat(19)}` }).flaw, null)
  assert.equal(read({ url: `/${'x'.repeat(20)}` }).flaw, 414)
  const sized = (bytes: number) => read({ headers: [...HOST, 'X', 'x'.repeat(bytes - 6)] }).flaw
  assert.deepEqual([sized(100), sized(101)], [null, 431])
  const lines = (count: number) => read({ headers: [...HOST, ...Array(2 * count - 2).fill('')] })
  assert.deepEqual([lines(5).flaw, lines(6).flaw], [null, 431])
})

test('HTTP/1.1 has one Host, HTTP/1.0 one or none', () => {
  const both: [headers: string[], in10: number | null, in11: number | null][] = [
    [[], null, 400],
    [['HOST', 'x'], null, null],
    [['Host', 'x', 'host', 'x'], 400, 400],
    [['Hosr', 'x'], null, 400],
  ]
  for (const [headers, in10, in11] of both) {
    assert.equal(read({ headers, version: [1, 0] }).flaw, in10)
    assert.equal(read({ headers, version: [1, 1] }).flaw, in11)
  }
})

test('a Host is a name or an address with an optional port', () => {
  const good = [
    '',
    'a',
    'a.b',
    'A-z_~!$&()*+,;=%-09',
    "o'x",
    'x:',
    'x:1',
    ':1',
    '1.2.3.4:80',
    '[::1]',
  ]
  for (const host of [...good, '[::1]:1', '[Ff.9]:'])
    assert.equal(read({ headers: ['Host', host] }).flaw, null, host)
  const bad = [
    'a b',
    ' a',
    'a/',
    'a@b',
    'a:b',
    'a:1:',
    'x[',
    '[]',
    '[::1',
    '::1]',
    '[::1]x',
    'x[::1]',
  ]
  for (const host of [...bad, '[g/]', 'a:1x', 'ä', '<', '[::1]:x'])
    assert.equal(read({ headers: ['Host', host] }).flaw, 400, host)
})

test('where a body or an upgrade may follow nothing else is read', () => {
  const isLast = (name: string, value: string) => read({ headers: [...HOST, name, value] }).isLast
  for (const name of [
    'Content-Length',
    'Upgrade',
    'upgradE',
    'Transfer-Encoding',
    'transfer-encodinG',
  ])
    for (const value of ['1', 'x']) assert.equal(isLast(name, value), true, name)
  for (const name of ['Content_Length', 'Upgrads', 'Transfer-Encodinx', 'Accept'])
    assert.equal(isLast(name, '7'), false, name)
  for (const value of ['0', '000']) assert.equal(isLast('CONTENT-LENGTH', value), false)
  assert.equal(isLast('CONTENT-LENGTH', '7'), true)
  const lengths = [...HOST, 'Content-Length', '5', 'Content-Length', '0']
  assert.equal(read({ headers: lengths }).isLast, true)
})

test('chunks are of HTTP/1.1, and the only coding, once', () => {
  const flaw = (...codings: string[]) =>
    read({ headers: [...HOST, ...codings.flatMap((coding) => ['Transfer-Encoding', coding])] }).flaw
  assert.equal(flaw('chunked'), null)
  assert.equal(flaw('Chunked'), null)
  for (const codings of [
    ['gzip'],
    ['chunked', 'chunked'],
    ['gzip', 'chunked'],
    ['gzip, chunked'],
    [''],
  ])
    assert.equal(flaw(...codings), 400, codings.join(' / '))
  const headers = [...HOST, 'Transfer-Encoding', 'chunked']
  assert.equal(read({ headers, version: [1, 0] }).flaw, 400)
})

test('a client of HTTP/1.0 that asks for the end gets it; of HTTP/1.1 Node sees to that', () => {
  const isLast = (name: string, value: string, minor: number) =>
    read({ headers: [...HOST, name, value], version: [1, minor] }).isLast
  for (const value of [
    'close',
    'CLOSE',
    'keep-alive, close',
    'close,keep-alive',
    'x,\t close \t, y',
  ]) {
    assert.equal(isLast('Connection', value, 0), true, value)
    assert.equal(isLast('cONNECTION', value, 0), true, value)
    assert.equal(isLast('Connection', value, 1), false, value)
    assert.equal(isLast('Connectiox', value, 0), false, value)
  }
  for (const value of ['', 'keep-alive', 'closed', 'xclose', 'close x', 'x close', 'close;x'])
    assert.equal(isLast('Connection', value, 0), false, value)
  const both = [...HOST, 'Connection', 'close', 'Connection', 'keep-alive']
  assert.equal(read({ headers: both, version: [1, 0] }).isLast, true)
})
