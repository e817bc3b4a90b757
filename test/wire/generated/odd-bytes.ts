import { AUTHORIZED, bare, hosted } from '../corpus/case.ts'

/*
 * One wrong byte at each position of a header field and of the first line. The bytes after the
 * request would mislead a reader that sees a body, a chunk or an end of the head there.
 */

const BYTES = [...'\0\x01\t\v\f\r\n \x7f\x80\xa0\xff,']

const INNER = hosted('GET /v1/servers HTTP/1.1', AUTHORIZED)
const BEHIND = INNER + hosted('GET /nope HTTP/1.1')
const LAST_CHUNK = '0\r\n\r\n'

/**
 * The header fields that matter to other readers: framing, connection, host and key, with a body if
 * needed.
 */
const FIELDS: [name: string, value: string, body?: string][] = [
  ['Host', 'example.com'],
  // The body is the first of the requests after it.
  ['Content-Length', String(INNER.length)],
  ['Transfer-Encoding', 'chunked', LAST_CHUNK],
  ['Connection', 'close'],
  ['Expect', '100-continue'],
  ['Upgrade', 'h2c'],
  ['Authorization', 'Bearer KEY'],
]

/** The positions in a field, as functions that change its line. */
const FIELD_PLACES: ((byte: string, name: string, value: string) => string)[] = [
  (byte, name, value) => `${byte}${name}: ${value}\r\n`,
  (byte, name, value) => `${name.slice(0, 2)}${byte}${name.slice(2)}: ${value}\r\n`,
  (byte, name, value) => `${name}${byte}: ${value}\r\n`,
  (byte, name, value) => `${name}${byte}${value}\r\n`,
  (byte, name, value) => `${name}:${byte}${value}\r\n`,
  (byte, name, value) => `${name}: ${byte}${value}\r\n`,
  (byte, name, value) => `${name}: ${value.slice(0, 3)}${byte}${value.slice(3)}\r\n`,
  (byte, name, value) => `${name}: ${value}${byte}\r\n`,
  (byte, name, value) => `${name}: ${value}\r${byte}\n`,
  (byte, name, value) => `${name}: ${value}\r\n${byte}`,
  (byte, name, value) => `${name}: ${value}${byte}X: y\r\n`,
  (byte, name, value) => `${name}: ${value}\r\n\r${byte}\n`,
]

/** Adds a Host and a valid key, unless the field is one of them. */
export const ODD_FIELDS: string[] = FIELDS.flatMap(([name, value, body = '']) =>
  FIELD_PLACES.flatMap((place) =>
    BYTES.map((byte) => {
      const beside = ['Host: example.com', AUTHORIZED].filter((line) => !line.startsWith(name))
      const lines = ['GET /v1/servers HTTP/1.1', ...beside].join('\r\n')
      return `${lines}\r\n${place(byte, name, value)}\r\n${body}${BEHIND}`
    }),
  ),
)

const LINES: [method: string, target: string, version: string][] = [
  ['GET', '/v1/servers', 'HTTP/1.1'],
  ['OPTIONS', 'http://example.com/', 'HTTP/1.1'],
  ['FOO', '/health', 'HTTP/1.1'],
]

const LINE_PLACES: ((byte: string, method: string, target: string, version: string) => string)[] = [
  (byte, method, target, version) => `${byte}${method} ${target} ${version}`,
  (byte, method, target, version) =>
    `${method.slice(0, 2)}${byte}${method.slice(2)} ${target} ${version}`,
  (byte, method, target, version) => `${method}${byte} ${target} ${version}`,
  (byte, method, target, version) => `${method}${byte}${target} ${version}`,
  (byte, method, target, version) => `${method} ${byte}${target} ${version}`,
  (byte, method, target, version) =>
    `${method} ${target.slice(0, 3)}${byte}${target.slice(3)} ${version}`,
  (byte, method, target, version) => `${method} ${target}${byte} ${version}`,
  (byte, method, target, version) => `${method} ${target}${byte}${version}`,
  (byte, method, target, version) => `${method} ${target} ${byte}${version}`,
  (byte, method, target, version) =>
    `${method} ${target} ${version.slice(0, 6)}${byte}${version.slice(6)}`,
  (byte, method, target, version) => `${method} ${target} ${version}${byte}`,
  (byte, method, target, version) => `${method} ${target} ${version}\r${byte}`,
]

export const ODD_LINES: string[] = LINES.flatMap((line) =>
  LINE_PLACES.flatMap((place) =>
    BYTES.map((byte) => bare(place(byte, ...line), 'Host: example.com', AUTHORIZED) + BEHIND),
  ),
)
