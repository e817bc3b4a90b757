import { AUTHORIZED, bare, type Case, closed, hosted, kept } from './case.ts'

/* Bodies: the service never reads what follows a head with a body as a request (RFC 9112, 6). */

const POST = 'POST /v1/servers HTTP/1.1'
const GET = 'GET /v1/servers HTTP/1.1'
const CHUNKED = 'Transfer-Encoding: chunked'
const SMUGGLED = hosted('GET /v1/servers HTTP/1.1', AUTHORIZED)

const LENGTHS = ['-1', '+5', '0x5', '', '4 2', '5, 5', '5,6', '1e1', '5;', '9'.repeat(21)]

export const FRAMING: Case[] = [
  ...LENGTHS.map((length) =>
    closed(`a length of '${length}'`, hosted(POST, `Content-Length: ${length}`), 400),
  ),
  closed('two lengths', hosted(POST, 'Content-Length: 5', 'Content-Length: 6'), 400),
  closed('a length twice', hosted(POST, 'Content-Length: 5', 'Content-Length: 5'), 400),
  closed('a length, then chunks', hosted(POST, 'Content-Length: 5', CHUNKED), 400),
  closed('chunks, then a length', hosted(POST, CHUNKED, 'Content-Length: 5'), 400),
  closed('a length and chunks on GET', hosted(GET, 'Content-Length: 5', CHUNKED, AUTHORIZED), 400),
  closed('chunks within a coding', hosted(POST, 'Transfer-Encoding: chunked, identity'), 400),
  closed('chunks twice', hosted(POST, CHUNKED, CHUNKED), 400),
  closed('chunks twice, a tab behind', hosted(POST, `${CHUNKED}\t`, CHUNKED), 400),
  closed('chunks behind a control character', hosted(POST, 'Transfer-Encoding:\x0bchunked'), 400),
  closed('chunks in HTTP/1.0', `${bare('POST / HTTP/1.0', CHUNKED)}0\r\n\r\n`, 400),
  closed('an unknown coding', `${hosted(POST, 'Transfer-Encoding: pigeons')}hello`, 400),
  closed('nearly chunks', `${hosted(POST, 'Transfer-Encoding: xchunked')}5\r\nhello\r\n`, 400),
  closed('an unknown coding on GET', hosted(GET, 'Transfer-Encoding: pigeons', AUTHORIZED), 400),
  closed(
    'a coding within chunks',
    hosted(GET, 'Transfer-Encoding: gzip, chunked', AUTHORIZED),
    400,
  ),
  closed('codings in two lines', hosted(GET, 'Transfer-Encoding: x', CHUNKED, AUTHORIZED), 400),
  closed('an empty coding', hosted(GET, 'Transfer-Encoding:', AUTHORIZED), 400),
  closed('chunks in capitals', `${hosted(POST, 'Transfer-Encoding: CHUNKED')}0\r\n\r\n`, 404),
]

const CHUNKS = {
  'that are good': '5\r\nhello\r\n0\r\n\r\n',
  'of no number': 'ZZ\r\nhello\r\n0\r\n\r\n',
  'of a negative size': '-1\r\nhello\r\n0\r\n\r\n',
  'of a size with 0x': '0x5\r\nhello\r\n0\r\n\r\n',
  'of a size of 17 digits': `${'f'.repeat(17)}\r\nhello`,
  'without an end': '5\r\nhelloworld\r\n0\r\n\r\n',
  'that end in LF': '5\nhello\n0\n\n',
  'with an extension of 20 kB': `5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`,
  'with a trailer that fails': '0\r\nno colon\r\n\r\n',
}

export const BODIES: Case[] = [
  kept('a length of nothing', hosted(POST, 'Content-Length: 0'), 404),
  closed('a body', `${hosted(POST, 'Content-Length: 5')}hello`, 404),
  closed('a key in a body', `${hosted(GET, 'Content-Length: 12')}api_key=KEY1`, 401),
  closed('a body on GET', `${hosted(GET, 'Content-Length: 5', AUTHORIZED)}hello`, 'listing'),
  closed('a body on OPTIONS', `${hosted('OPTIONS / HTTP/1.1', 'Content-Length: 2')}hi`, 204),
  closed('a body on HEAD', `${hosted('HEAD / HTTP/1.1', 'Content-Length: 2')}hi`, 'head 404'),
  closed('half a body', `${hosted(POST, 'Content-Length: 50')}hello`, 404),
  closed('a body of 20 kB', `${hosted(POST, 'Content-Length: 20000')}${'x'.repeat(20_000)}`, 404),
  ...Object.entries(CHUNKS).map(([name, body]) =>
    closed(`chunks ${name}`, hosted(POST, CHUNKED) + body, 404),
  ),
  ...Object.entries(CHUNKS).map(([name, body]) =>
    closed(`chunks ${name}, on GET`, hosted(GET, CHUNKED, AUTHORIZED) + body, 'listing'),
  ),
  closed('a key in a trailer', `${hosted(GET, CHUNKED)}0\r\n${AUTHORIZED}\r\n\r\n`, 401),
  closed(
    'a request in a body, and one behind it',
    `${hosted(GET, `Content-Length: ${SMUGGLED.length}`)}${SMUGGLED}${SMUGGLED}`,
    401,
  ),
  closed(
    'a request behind a body, on GET',
    `${hosted(GET, 'Content-Length: 2', AUTHORIZED)}hi${SMUGGLED}`,
    'listing',
  ),
  closed('waiting for a 100', hosted(POST, 'Content-Length: 5', 'Expect: 100-continue'), 404),
  closed('waiting for a 100 on GET', hosted(GET, 'Expect: 100-continue', AUTHORIZED), 'listing'),
  closed(
    'waiting for a 100, then a request',
    hosted('GET /health HTTP/1.1', 'Expect: 100-continue') + SMUGGLED,
    'health',
  ),
]
