import { AUTHORIZED, bare, type Case, closed, hosted, kept } from './case.ts'

/* Host, the syntax of header fields (RFC 9112, 5), and fields that the service ignores. */

const HEALTH = 'GET /health HTTP/1.1'
const LISTING = 'GET /v1/servers HTTP/1.1'

export const HOSTS: Case[] = [
  closed('no Host', bare(HEALTH), 400),
  closed('no Host on any path', bare('GET /nope HTTP/1.1'), 400),
  closed('no Host on OPTIONS', bare('OPTIONS * HTTP/1.1'), 400),
  closed('no Host, absolute form', bare('GET http://example.com/health HTTP/1.1'), 400),
  closed('two Hosts', bare(HEALTH, 'Host: x', 'Host: y'), 400),
  closed('the same Host twice', bare(HEALTH, 'Host: x', 'host: x'), 400),
  closed('two Hosts in HTTP/1.0', bare('GET /health HTTP/1.0', 'Host: x', 'Host: x'), 400),
  closed('a Host with a slash', bare(HEALTH, 'Host: a/b'), 400),
  closed('a Host with a space and an at', bare(HEALTH, 'Host: a/b@c d'), 400),
  closed('two Hosts in one line', bare(HEALTH, 'Host: a, b'), 400),
  closed('a Host with two ports', bare(HEALTH, 'Host: a:1:2'), 400),
  kept('an empty Host', bare(HEALTH, 'Host:'), 'health'),
  kept('a Host with a port', bare(HEALTH, 'HOST: example.com:8080'), 'health'),
  kept('an IPv6 Host', bare(HEALTH, 'Host: [::1]:8080'), 'health'),
]

export const SYNTAX: Case[] = [
  closed('one line that ends in LF', 'GET /health HTTP/1.1\r\nHost: x\nA: b\r\n\r\n', 400),
  closed('a CR and no LF at the end', 'GET /health HTTP/1.1\r\nHost: x\r\n\rX', 400),
  closed('a bare CR in a value', hosted(HEALTH, 'X: a\rb'), 400),
  closed('NUL in a value', hosted(HEALTH, 'X: a\0b'), 400),
  closed('a control character in a value', hosted(HEALTH, 'X: a\x01b'), 400),
  closed('DEL in a value', hosted(HEALTH, 'X: a\x7fb'), 400),
  closed('a space before the colon', hosted(LISTING, 'Authorization : Bearer KEY'), 400),
  closed('a folded value', hosted(LISTING, 'Authorization: Bearer', ' KEY'), 400),
  closed('a value folded by a tab', hosted(LISTING, 'Authorization: Bearer KEY', '\tx'), 400),
  closed('a space before the first field', `${HEALTH}\r\n Host: x\r\n\r\n`, 400),
  closed('an empty name', hosted(HEALTH, ': x'), 400),
  closed('no colon', hosted(HEALTH, 'nonsense'), 400),
  closed('an at in a name', hosted(HEALTH, 'Fo@o: x'), 400),
  closed('a name beyond ASCII', hosted(HEALTH, 'F\xf6\xf6: x'), 400),
  closed('a name in brackets', hosted(HEALTH, '[x]: y'), 400),
  kept('a value beyond ASCII', hosted(HEALTH, 'X: \xf6\xff'), 'health'),
  kept('names of prototypes', hosted(HEALTH, '__proto__: x', 'constructor: y'), 'health'),
  kept(
    'names of prototypes beside a key',
    hosted(LISTING, '__proto__: x', AUTHORIZED, 'toString: y', 'hasOwnProperty: z'),
    'listing',
  ),
  kept(
    'a key behind a thousand fields',
    hosted(LISTING, ...many(1_000, 'aa: b'), AUTHORIZED),
    'listing',
  ),
  closed(
    'a key behind more fields than are read',
    hosted(LISTING, ...many(2_100, 'aaa: b'), AUTHORIZED),
    431,
  ),
  closed('a value of 9 kB', hosted(HEALTH, `X: ${'x'.repeat(9_000)}`), 431),
  closed('a name of 9 kB', hosted(HEALTH, `${'x'.repeat(9_000)}: x`), 431),
  closed('a target of 9 kB', hosted(`GET /${'x'.repeat(9_000)} HTTP/1.1`), 414),
  closed(
    'a target of 9 kB and more fields than are read',
    hosted(`GET /${'x'.repeat(9_000)} HTTP/1.1`, ...many(1_100, 'a: b')),
    414,
  ),
  closed('a target of 9 kB, unknown method', hosted(`FOO /${'x'.repeat(9_000)} HTTP/1.1`), 414),
]

export const IGNORED: Case[] = [
  kept('an unknown expectation', hosted(LISTING, 'Expect: 200-maybe'), 401),
  kept('an unknown expectation, a key', hosted(LISTING, 'Expect: x', AUTHORIZED), 'listing'),
  closed(
    'an upgrade to HTTP/2',
    hosted(HEALTH, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMA'),
    'health',
  ),
  closed(
    'an upgrade to a web socket',
    hosted(HEALTH, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
    'health',
  ),
  kept(
    'a method in a field',
    hosted(LISTING, 'X-HTTP-Method-Override: DELETE', AUTHORIZED),
    'listing',
  ),
  kept('a range', hosted(LISTING, 'Range: bytes=0-1', AUTHORIZED), 'listing'),
  kept('a condition', hosted(LISTING, 'If-None-Match: *', AUTHORIZED), 'listing'),
  kept(
    'a date as condition',
    hosted(LISTING, 'If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT', AUTHORIZED),
    'listing',
  ),
  kept('another type', hosted(LISTING, 'Accept: text/xml', AUTHORIZED), 'listing'),
  kept('an encoding', hosted(LISTING, 'Accept-Encoding: gzip, br', AUTHORIZED), 'listing'),
  kept('an origin', hosted(LISTING, 'Origin: https://evil', AUTHORIZED), 'listing'),
  kept(
    'names of proxies',
    hosted(
      LISTING,
      'X-Forwarded-For: 127.0.0.1',
      'Forwarded: for=127.0.0.1;host=evil',
      'X-Real-IP: ::1',
      'X-Forwarded-Host: evil',
      AUTHORIZED,
    ),
    'listing',
  ),
  closed('an end of the connection', hosted(LISTING, 'Connection: close', AUTHORIZED), 'listing'),
]

function many(count: number, field: string): string[] {
  return Array.from({ length: count }, () => field)
}
