import { AUTHORIZED, bare, hosted } from '../corpus/case.ts'

/* Every way to give the length of a message, alone and in conflict, and chunks of every form. */

const LISTING = 'GET /v1/servers HTTP/1.1'
const SMUGGLED = hosted(LISTING, AUTHORIZED)

const LENGTHS = [
  '0|00|5|05|0000000000000000000005|18446744073709551615|18446744073709551616|99999999999999999999',
  '-0|-5|+5|0x5|5.|5.0|1e1||5 5|5,5|5, 5|5;5|5 | 5|5\t|\t5|"5"|5\x805|\xb5|5a|a5',
].flatMap((forms) => forms.split('|'))

const CODINGS = [
  'chunked|Chunked|CHUNKED| chunked|chunked |chunked\t|\tchunked|| |chunked,|,chunked|chunked, chunked',
  'identity|chunked, identity|chunked;q=1|identity, chunked|gzip, chunked|gzip|xchunked|chunkedx',
  '"chunked"|chunke|chunked\x80|\xa0chunked|chun ked|cow|trailers|chunked, cow, chunked',
].flatMap((forms) => forms.split('|'))

function withFields(version: string, fields: string[]): string {
  const body = `0\r\n\r\n${SMUGGLED}`
  return bare(`POST /v1/servers ${version}`, 'Host: example.com', ...fields) + body + SMUGGLED
}

const FRAMINGS: string[][] = [
  ...LENGTHS.flatMap((length) => [
    [`Content-Length:${length}`],
    ['Content-Length: 5', `Content-Length: ${length}`],
    [`Content-Length: ${length}`, 'Transfer-Encoding: chunked'],
  ]),
  ...CODINGS.flatMap((coding) => [
    [`Transfer-Encoding:${coding}`],
    ['Transfer-Encoding: chunked', `Transfer-Encoding: ${coding}`],
    [`Transfer-Encoding: ${coding}`, 'transfer-encoding: chunked'],
    ['Content-Length: 5', `Transfer-Encoding: ${coding}`],
    [`Transfer-Encoding: ${coding}`, 'Content-Length: 0'],
  ]),
]

/** On a request that is a 404 anyway, and on one that is allowed. */
export const FRAMED: string[] = FRAMINGS.flatMap((fields) => [
  withFields('HTTP/1.1', fields),
  withFields('HTTP/1.0', ['Connection: keep-alive', ...fields]),
  hosted(LISTING, AUTHORIZED, ...fields) + SMUGGLED,
])

const SIZES = [
  '5|05|000000000000000000005|a|A|0|00|-0|-5|+5|0x5|5x| 5|5 |\t5|5\t|5 5|5;|5;a|5;a=b|5;a="b;\\"c"',
  '5; a|5 ;a|5;\x80|5;\n|5,5||g|ffffffff|ffffffffffffffff|10000000000000000|5\0|5\x80',
].flatMap((forms) => forms.split('|'))
const SIZE_ENDS = ['\r\n', '\n', '\r', '\r\r\n', '']
const TRAILERS = [
  `|${AUTHORIZED}\r\n|Content-Length: 5\r\n|Transfer-Encoding: chunked\r\n`,
  'no colon\r\n| X: y\r\n|X : y\r\n|X: y\n|X: y\r|\0',
].flatMap((lines) => lines.split('|'))

/** The head is answered, and nothing in the chunks is. */
export const CHUNKS: string[] = [
  ...SIZES.flatMap((size) => SIZE_ENDS.map((end) => `${size}${end}hello\r\n0\r\n\r\n`)),
  ...SIZES.map((size) => `5\r\nhello${size}\r\n\r\n`),
  ...TRAILERS.map((trailer) => `5\r\nhello\r\n0\r\n${trailer}\r\n`),
].map((chunks) => hosted(LISTING, 'Transfer-Encoding: chunked') + chunks + SMUGGLED)
