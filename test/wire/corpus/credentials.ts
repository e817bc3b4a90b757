import { AUTHORIZED, bare, type Case, closed, hosted, kept } from './case.ts'

/* The Authorization header on the wire (spec 5.1), and sequences of requests. */

const LISTING = 'GET /v1/servers HTTP/1.1'

const REFUSED = {
  empty: '',
  'another scheme': 'Basic S0VZOg==',
  'another scheme with a key': 'Token KEY',
  'the key alone': 'KEY',
  'the scheme alone': 'Bearer',
  'the scheme and a space': 'Bearer ',
  'two spaces': 'Bearer  KEY',
  'a tab': 'Bearer\tKEY',
  'no space': 'BearerKEY',
  'NBSP before the key': 'Bearer \xa0KEY',
  'NBSP behind the key': 'Bearer KEY\xa0',
  'a byte order mark': 'Bearer \xef\xbb\xbfKEY',
  'a word behind the key': 'Bearer KEY x',
  'the key twice': 'Bearer KEY, Bearer KEY',
  'quotes about the key': 'Bearer "KEY"',
  'a key and one more': 'Bearer KEY0',
  'a key without its end': 'Bearer CUT_OFF',
  'a key in upper case': 'Bearer UPPER_CASE',
  'a key of 7 kB': `Bearer svc_live_${'0'.repeat(7_000)}`,
  'the fixed prefix alone': 'Bearer svc_live_',
  'the fixed prefix in upper case': 'Bearer SVC_LIVE_0123',
  'another prefix': 'Bearer svc_test_0123',
  'an injection': "Bearer svc_live_' OR 1=1--",
  'a key never issued': `Bearer svc_live_${'0123456789abcdef'.repeat(4)}`,
  'a key revoked within the second of its use': 'Bearer REVOKED',
}

const ELSEWHERE = [
  'X-API-Key: KEY',
  'Cookie: key=KEY',
  'Proxy-Authorization: Bearer KEY',
  'Key: KEY',
]

export const CREDENTIALS: Case[] = [
  kept('none', hosted(LISTING), 401),
  ...Object.entries(REFUSED).map(([name, value]) =>
    kept(name, hosted(LISTING, `Authorization: ${value}`), 401),
  ),
  ...ELSEWHERE.map((field) => kept(field, hosted(LISTING, field), 401)),
  kept('in the query', hosted('GET /v1/servers?api_key=KEY&access_token=KEY HTTP/1.1'), 401),
  kept('two lines', hosted(LISTING, AUTHORIZED, AUTHORIZED), 401),
  kept('two lines, the first empty', hosted(LISTING, 'Authorization:', AUTHORIZED), 401),
  kept('the scheme in mixed case', hosted(LISTING, 'aUTHORIZATION: bEaReR KEY'), 'listing'),
  kept(
    'white space about the whole value, which is not part of it',
    hosted(LISTING, 'Authorization:  \t Bearer KEY \t'),
    'listing',
  ),
]

const AUTHORIZED_LISTING = hosted(LISTING, AUTHORIZED)

export const SEQUENCES: Case[] = [
  kept(
    'two requests',
    hosted('GET /health HTTP/1.1') + hosted('GET /nope HTTP/1.1'),
    'health',
    404,
  ),
  kept('a second request within the second', AUTHORIZED_LISTING.repeat(2), 'listing', 429),
  kept(
    'answers in the order of their requests, whatever takes longer',
    AUTHORIZED_LISTING +
      hosted('HEAD / HTTP/1.1').replace('HEAD', 'GET') +
      hosted(LISTING) +
      hosted('OPTIONS * HTTP/1.1') +
      hosted('PUT / HTTP/1.1'),
    'listing',
    'health',
    401,
    204,
    404,
  ),
  kept('empty lines between requests', `${hosted(LISTING)}\r\n\r\n${hosted(LISTING)}`, 401, 401),
  closed('an error behind a request', `${hosted('GET / HTTP/1.1')}\0`, 'health', 400),
  closed(
    'a request that cannot be answered behind one that takes longer',
    AUTHORIZED_LISTING + bare('GET / HTTP/1.1'),
    'listing',
    400,
  ),
  closed(
    'a body behind requests that take longer',
    `${AUTHORIZED_LISTING}${hosted(LISTING)}${hosted('PUT / HTTP/1.1', 'Content-Length: 2')}hi`,
    'listing',
    401,
    404,
  ),
]
