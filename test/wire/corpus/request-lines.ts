import { AUTHORIZED, bare, type Case, closed, hosted, kept } from './case.ts'

/*
 * The first line: method, target and version (RFC 9112, 3), and bytes that have none.
 */

export const VERSIONS: Case[] = [
  kept('a plain request', hosted('GET /v1/servers HTTP/1.1', AUTHORIZED), 'listing'),
  closed('HTTP/1.0', bare('GET /health HTTP/1.0', 'Host: x'), 'health'),
  closed('HTTP/1.0 needs no Host', bare('GET /health HTTP/1.0'), 'health'),
  kept('HTTP/1.0, kept alive', bare('GET /health HTTP/1.0', 'Connection: keep-alive'), 'health'),
  closed('HTTP/1.0, both', bare('GET / HTTP/1.0', 'Connection: keep-alive, close'), 'health'),
  closed('HTTP/0.9', 'GET /health\r\n\r\n', 400),
  closed('HTTP/0.9 by name', hosted('GET /health HTTP/0.9'), 400),
  closed('HTTP/1.2', hosted('GET /health HTTP/1.2'), 400),
  closed('HTTP/2.0', hosted('GET /health HTTP/2.0'), 505),
  closed('HTTP/3.0', hosted('GET /health HTTP/3.0'), 400),
  closed('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400),
  closed('a version of two digits', hosted('GET /health HTTP/1.10'), 400),
  closed('a version without its dot', hosted('GET /health HTTP/11'), 400),
  closed('http in lower case', hosted('GET /health http/1.1'), 400),
  closed('a space behind the version', hosted('GET /health HTTP/1.1 '), 400),
  closed('another protocol', hosted('GET /health ICE/1.0'), 400),
]

export const METHODS: Case[] = [
  ...['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'QUERY', 'PROPFIND', 'SOURCE', 'M-SEARCH'].map(
    (method) => kept(method, hosted(`${method} /v1/servers HTTP/1.1`, AUTHORIZED), 404),
  ),
  kept('HEAD of the listing', hosted('HEAD /v1/servers HTTP/1.1', AUTHORIZED), 'head 404'),
  kept('HEAD of the health', hosted('HEAD /health HTTP/1.1'), 'head 404'),
  kept('OPTIONS of the server', hosted('OPTIONS * HTTP/1.1'), 204),
  kept('OPTIONS of nothing', hosted('OPTIONS /nope HTTP/1.1'), 204),
  kept(
    'a preflight',
    hosted(
      'OPTIONS /v1/servers HTTP/1.1',
      'Origin: https://example.com',
      'Access-Control-Request-Method: GET',
      'Access-Control-Request-Headers: authorization',
    ),
    204,
  ),
  closed('CONNECT', hosted('CONNECT example.com:443 HTTP/1.1'), 404),
  closed('CONNECT without Host', bare('CONNECT example.com:443 HTTP/1.1'), 404),
  closed('CONNECT with a body', `${hosted('CONNECT x:1 HTTP/1.1', 'Content-Length: 5')}hello`, 404),
  closed('an unknown method', hosted('FOO /v1/servers HTTP/1.1', AUTHORIZED), 404),
  closed('an unknown method, HTTP/1.0', bare('FOO /v1/servers HTTP/1.0'), 404),
  closed(
    'an unknown method with a body',
    `${hosted('FOO / HTTP/1.1', 'Content-Length: 2')}hi`,
    404,
  ),
  closed('a method in lower case', hosted('get /health HTTP/1.1'), 404),
  closed('a method in mixed case', hosted('Get /health HTTP/1.1'), 404),
  closed('the beginning of a method', hosted('GE /health HTTP/1.1'), 404),
  closed('a method and more', hosted('GETS /health HTTP/1.1'), 404),
  closed('a method of odd characters', hosted("!#$%&'*+-.^_`|~ / HTTP/1.1"), 404),
  closed('a method of a thousand letters', hosted(`${'A'.repeat(1_000)} / HTTP/1.1`), 404),
  closed('an unknown method, two spaces', hosted('FOO  /health  HTTP/1.1'), 404),
  ...['DESCRIBE', 'PLAY', 'SET_PARAMETER'].map((method) =>
    closed(`${method}, of RTSP`, hosted(`${method} /v1/servers HTTP/1.1`), 404),
  ),
  closed('PRI, which HTTP/2 keeps for itself', hosted('PRI /v1/servers HTTP/1.1'), 400),
  closed('an unknown method, HTTP/2.0', hosted('FOO /health HTTP/2.0'), 400),
  closed('an unknown method, no version', 'FOO /health\r\n\r\n', 400),
  closed('an unknown method, LF alone', 'FOO /health HTTP/1.1\nHost: x\n\n', 400),
  closed('an unknown method, CR alone', 'FOO /health HTTP/1.1\rHost: x\r\n\r\n', 400),
  closed('a space before the method', hosted(' GET /health HTTP/1.1'), 400),
  closed('a method with a slash', hosted('GET/HEAD /health HTTP/1.1'), 400),
  closed('a method beyond ASCII', hosted('G\xcbT /health HTTP/1.1'), 400),
]

const NOT_FOUND = [
  '//v1/servers',
  '//',
  '/v1/../v1/servers',
  '/v1/%73ervers',
  '/v1/servers/',
  '/v1/servers//',
  '/V1/Servers',
  '/v1/servers;x=1',
  '/v1\\servers',
  '/v1/servers#x',
  '/v1/servers/123',
  '/v1/%zz',
  '/v1/servers%00',
  '/__proto__',
  '/health/',
  '*',
  'http://example.com//v1/servers',
  'ftp://example.com/health',
]

export const TARGETS: Case[] = [
  ...NOT_FOUND.map((target) => kept(target, hosted(`GET ${target} HTTP/1.1`, AUTHORIZED), 404)),
  kept('the root', hosted('GET / HTTP/1.1'), 'health'),
  kept('a query', hosted('GET /v1/servers?status=draft&limit=1 HTTP/1.1', AUTHORIZED), 'listing'),
  kept('an empty query', hosted('GET /v1/servers? HTTP/1.1', AUTHORIZED), 'listing'),
  kept('the health with a query', hosted('GET /health?x=/v1/servers HTTP/1.1'), 'health'),
  kept('absolute form', hosted('GET http://evil/v1/servers HTTP/1.1', AUTHORIZED), 'listing'),
  kept('absolute form, https', hosted('GET HTTPS://evil:1/health?x HTTP/1.1'), 'health'),
  kept('absolute form without a path', hosted('GET http://evil HTTP/1.1'), 'health'),
  kept('absolute form, a query alone', hosted('GET http://evil?x=/ HTTP/1.1'), 'health'),
  closed('authority form', hosted('GET evil:80 HTTP/1.1'), 400),
  closed('no slash', hosted('GET v1/servers HTTP/1.1'), 400),
  closed('no target', hosted('GET HTTP/1.1'), 400),
  closed('UTF-8', hosted('GET /v1/s\xc3\xa9rvers HTTP/1.1'), 400),
  closed('NUL', hosted('GET /v1/servers\0 HTTP/1.1'), 400),
  closed('DEL', hosted('GET /v1/servers\x7f HTTP/1.1'), 400),
  closed('a space inside', hosted('GET /v1/ser vers HTTP/1.1'), 400),
  closed('tabs between the parts', hosted('GET\t/health\tHTTP/1.1'), 400),
  kept('two spaces before it', hosted('GET  /v1/servers HTTP/1.1'), 401),
]

export const NOISE: Case[] = [
  kept('empty lines before a request', `\r\n\r\n${hosted('GET /health HTTP/1.1')}`, 'health'),
  closed('LF-only lines', 'GET /health HTTP/1.1\nHost: x\n\n', 400),
  closed('CR-only lines', 'GET /health HTTP/1.1\rHost: x\r\r', 400),
  closed('TLS', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\x9a\x51\xd2\x44\xe0\x8c', 400),
  closed('bytes of no meaning', '\x8f\x02\x9b\xff\0\0\x7e\x10\xc1\r\n\r\n', 400),
  closed('a NUL', '\0', 400),
  closed('words', 'hello, is anyone there?\r\n', 400),
  closed('another protocol', 'SSH-2.0-OpenSSH_9.9\r\n', 400),
  closed('SMTP', 'EHLO example.com\r\n', 400),
]
