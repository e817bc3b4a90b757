import { judgeAnswer } from '../form.ts'
import type { Kit } from '../kit.ts'
import { LIST, type Request } from '../request.ts'
import { fieldOf, objectOf, tellField } from '../wire/answer.ts'
import type { Exchange } from '../wire/connection.ts'
import type { Check } from './check.ts'

/** Valid requests with odd fields. The first group must change nothing. */
const ODD_REQUESTS: readonly Request[] = [
  { path: LIST, fields: ['X-Odd: \xf6\xff'] },
  { path: LIST, fields: ['__proto__: x', 'constructor: y', 'toString: z'] },
  { path: LIST, fields: ['If-Modified-Since: nonsense', 'Range: bytes=9-1', 'If-Match: *'] },
  { path: LIST, fields: ['Content-Type: \x80', 'Accept: ;;;,', 'Cookie: =;=;%zz'] },
  { path: LIST, fields: Array.from({ length: 60 }, (_, index) => `X-${index}: y`) },
  { path: `${LIST}?%zz&a[]=1&a[b]=%00`, fields: [] },
]

/** Requests of a size that a server may refuse. */
const LARGE_REQUESTS: readonly Request[] = [
  { path: `/${'x'.repeat(9_000)}` },
  { path: LIST, fields: [`X-Large: ${'x'.repeat(9_000)}`] },
  { path: LIST, fields: [`Authorization: Bearer svc_live_${'0'.repeat(7_000)}`] },
]

/**
 * What RFC 9112 makes a server refuse, so it is never granted. Other versions and other white space
 * are missing, because a server may accept them. `HOST` stands for the Host field.
 */
const INVALID: readonly string[] = [
  `GET ${LIST} HTTP/1.1\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHOST\r\nHost: other.example\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHOST\r\nAuthorization : Bearer KEY\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHOST\r\nX: a\0b\r\nAuthorization: Bearer KEY\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHOST\r\nno colon\r\nAuthorization: Bearer KEY\r\n\r\n`,
  `GET ${LIST} http/1.1\r\nHOST\r\nAuthorization: Bearer KEY\r\n\r\n`,
  `GET v1/servers HTTP/1.1\r\nHOST\r\nAuthorization: Bearer KEY\r\n\r\n`,
  `GET /v1/ser vers HTTP/1.1\r\nHOST\r\nAuthorization: Bearer KEY\r\n\r\n`,
  `get ${LIST} HTTP/1.1\r\nHOST\r\nAuthorization: Bearer KEY\r\n\r\n`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nContent-Length: -1\r\n\r\n`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nTransfer-Encoding: pigeons\r\n\r\n`,
  '\0\r\n\r\n',
  '\x8f\x02\x9b\xff\0\0\x7e\x10\xc1\r\n\r\n',
  'SSH-2.0-OpenSSH_9.9\r\n\r\n',
]

/** Granted if a server takes it for a request of its own. It needs no key. */
const HIDDEN = 'GET /health HTTP/1.1\r\nHOST\r\n\r\n'

/**
 * A request with another one in or behind its body. `LENGTH` is that of the hidden request, and
 * `SIZE` the same in four hexadecimal digits.
 */
const SMUGGLING: readonly string[] = [
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nContent-Length: LENGTH\r\n\r\n${HIDDEN}`,
  `GET /nope HTTP/1.1\r\nHOST\r\nContent-Length: LENGTH\r\n\r\n${HIDDEN}`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nContent-Length: 0\r\nContent-Length: LENGTH\r\n\r\n${HIDDEN}`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nContent-Length: LENGTH\r\nContent-Length: 0\r\n\r\n${HIDDEN}`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nContent-Length: +LENGTH\r\n\r\n${HIDDEN}`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nContent-Length: 0,LENGTH\r\n\r\n${HIDDEN}`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nContent-Length : LENGTH\r\n\r\n${HIDDEN}`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nTransfer-Encoding: xchunked\r\n\r\n${HIDDEN}`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n${HIDDEN}`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n${HIDDEN}`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\nSIZE\r\n${HIDDEN}\r\n0\r\n\r\n`,
  `POST ${LIST} HTTP/1.1\r\nHOST\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\nSIZE\r\n${HIDDEN}\r\n0\r\n\r\n`,
]

/** Requests that are odd, too large or invalid, and requests hidden in others (spec 4, 7.1). */
export const ODD_BYTES: Check = {
  name: 'odd bytes',
  requests: () => ODD_REQUESTS.length + LARGE_REQUESTS.length + INVALID.length + SMUGGLING.length,
  grants: 1,
  async run(kit) {
    for (const request of ODD_REQUESTS)
      judgeAnswer(kit.judge, 'no-credentials', await kit.send(request), 401)
    for (const request of LARGE_REQUESTS)
      judgeAnswer(kit.judge, 'one-answer', await kit.send(request), null)
    await kit.free(kit.key)
    for (const text of INVALID) judgeInvalid(kit, await kit.probe(fill(kit, text)))
    for (const text of SMUGGLING) judgeSmuggling(kit, await kit.probe(fill(kit, text)))
  },
}

function fill({ target, key }: Kit, text: string): string {
  const host = `Host: ${target.authority}`
  const hidden = fillHost(HIDDEN)
  return fillHost(text.replace(LIST, `${target.path}${LIST}`))
    .replaceAll('LENGTH', String(hidden.length))
    .replaceAll('SIZE', hidden.length.toString(16).padStart(4, '0'))
    .replaceAll('KEY', key.text)

  function fillHost(part: string): string {
    return part.replaceAll('HOST', host).replaceAll('GET /health', `GET ${target.path}/health`)
  }
}

/** Bytes that are no request get one answer or the end of the connection, and no 200. */
function judgeInvalid({ judge, key }: Kit, exchange: Exchange): void {
  const { answer, failure, surplus } = exchange
  if (answer?.status === 200) key.claims.push(exchange)
  judge.expect('never-200', answer === null || answer.status >= 400, {
    exchange,
    expected: 'an error, or the end of the connection',
  })
  const isOne = surplus === '' && (answer !== null || !(failure ?? '').startsWith('no '))
  judge.expect('one-answer', isOne, {
    exchange,
    expected: 'one answer, or the end of the connection',
  })
  if (answer === null || answer.status < 400) return
  const isJson =
    typeof objectOf(answer)?.error === 'string' &&
    (fieldOf(answer, 'content-type') ?? '').startsWith('application/json')
  judge.expect('refusal-form', isJson, {
    exchange,
    expected: 'an object with a string `error`',
    seen: `${answer.status} with ${tellField(answer, 'Content-Type')}`,
  })
  judge.expect('known-status', answer.status < 500 || [501, 505].includes(answer.status), {
    exchange,
    expected: 'a 4xx',
  })
}

/** The hidden request is part of a body, so only the outer one gets an answer. */
function judgeSmuggling({ judge }: Kit, exchange: Exchange): void {
  const { answer, surplus } = exchange
  judge.expect('no-second-answer', answer?.status !== 200 && surplus === '', {
    exchange,
    expected: 'one error, or the end of the connection',
  })
}
