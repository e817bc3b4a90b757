import { METHODS } from 'node:http'

/*
 * A second reader of request heads, written from RFC 9110 and RFC 9112 without the service's code.
 * If the RFC leaves a choice, it takes the stricter one, unless a comment says otherwise.
 */

export interface Head {
  method: string
  target: string
  /** HTTP/1 versions, and 2.0, which the service reads but refuses. */
  version: string
  /** The values of each header, by lowercase name. */
  fields: Map<string, string[]>
  /** The start of the next request, if this one has no body. */
  end: number
}

/** The most bytes of a head, its header lines, and the bytes of its target. */
const HEAD_MAX = 32_768
const LINES_MAX = 1_024
export const TARGET_MAX = 8_192

/**
 * The head that begins at `from`, or the status of bytes that are none or that ask for a tunnel.
 * Null without any bytes.
 */
export function readHead(text: string, from: number): Head | 400 | 404 | 414 | 431 | null {
  const start = skipEmptyLines(text, from)
  if (start === text.length) return null
  const seen = text.slice(0, start + HEAD_MAX)
  const isFull = seen.length === start + HEAD_MAX
  const line = lineAt(seen, start)
  if (line === null) return isFull && BEGUN_LINE.test(seen.slice(start)) ? 414 : 400
  const [, method = '', target = '', version = ''] = REQUEST_LINE.exec(line) ?? []
  if (!KNOWN_METHODS.has(method)) return statusOfUnknownMethod(line)
  if (method === 'PRI' || !VERSIONS.includes(version) || !isTarget(method, target)) return 400

  const tooLarge = target.length > TARGET_MAX ? 414 : 431
  const fields = new Map<string, string[]>()
  let at = start + line.length + 2
  for (let count = 1; ; count += 1) {
    const field = lineAt(seen, at)
    if (field === null) return isFull && BEGUN_FIELD.test(seen.slice(at)) ? tooLarge : 400
    at += field.length + 2
    if (field === '') {
      const head = { method, target, version, fields, end: at }
      if (method !== 'CONNECT') return head
      return isFramed(head) ? 404 : 400
    }
    const [, name = '', value = ''] = FIELD.exec(field) ?? []
    if (name === '') return 400
    if (count > LINES_MAX) return tooLarge
    const lower = name.toLowerCase()
    fields.set(lower, [...(fields.get(lower) ?? []), value])
  }
}

/** The service reads no further than such a line. */
function statusOfUnknownMethod(line: string): 400 | 404 | 414 {
  const [, target] = UNKNOWN_METHOD.exec(line) ?? []
  if (target === undefined) return 400
  return target.length > TARGET_MAX ? 414 : 404
}

const VERSIONS = ['1.0', '1.1', '2.0']
/** PRI belongs to HTTP/2 (RFC 9113, 3.4). */
const KNOWN_METHODS = new Set([...METHODS, 'PRI'])

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]"
/** Several spaces between the parts are allowed (RFC 9112, 3). */
const REQUEST_LINE = /^([A-Z_-]+) +([!-~]+) +HTTP\/([0-9]\.[0-9])$/
const UNKNOWN_METHOD = new RegExp(`^${TOKEN}+ +([!-~]+) +HTTP/1\\.[01]$`)
/** The valid beginnings of a request line behind its method, and of a header line. */
const BEGUN_LINE = new RegExp(`^${TOKEN}+ +(?:[!-~]+(?: +(?:[!-~]+\\r?)?)?)?$`)
const BEGUN_FIELD = new RegExp(`^(?:${TOKEN}*|${TOKEN}+:[\\t -~\\x80-\\xff]*\\r?|\\r)$`)
const FIELD = new RegExp(
  `^(${TOKEN}+):[\\t ]*((?:[!-~\\x80-\\xff](?:[\\t -~\\x80-\\xff]*[!-~\\x80-\\xff])?)?)[\\t ]*$`,
)

function skipEmptyLines(text: string, from: number): number {
  let at = from
  while (text[at] === '\r' || text[at] === '\n') at += 1
  return at
}

/**
 * The line without its CR LF, or null while it is incomplete. CR or LF alone does not end a line.
 */
function lineAt(text: string, from: number): string | null {
  const end = text.indexOf('\r\n', from)
  return end === -1 ? null : text.slice(from, end)
}

/** RFC 9112, 3.2. A path may have any visible character. */
function isTarget(method: string, target: string): boolean {
  if (method === 'CONNECT') return AUTHORITY.test(target)
  return /^[/*][!-~]*$/.test(target) || ABSOLUTE.test(target)
}

const HOST_AND_REST = "[0-9A-Za-z._~!$&'()*+,;=:@%[\\]-]*(?:[/?][!-~]*)?"
/** A path may follow the authority; the answer is a 404 anyway. */
const AUTHORITY = new RegExp(`^${HOST_AND_REST}$`)
const ABSOLUTE = new RegExp(`^[A-Za-z]+://${HOST_AND_REST}$`)

const LENGTH_MAX = 2n ** 64n - 1n

/** RFC 9112, 6.1 and 6.3: a message has one length, or one coding that tells where it ends. */
export function isFramed({ version, fields }: Head): boolean {
  const lengths = fields.get('content-length') ?? []
  const codings = fields.get('transfer-encoding') ?? []
  if (lengths.length + codings.length > 1) return false
  if (codings.length > 0 && version === '1.0') return false
  if (codings.some((coding) => coding.toLowerCase() !== 'chunked')) return false
  return lengths.every((length) => /^[0-9]+$/.test(length) && BigInt(length) <= LENGTH_MAX)
}

/**
 * RFC 9110, 5.6.1: the members of a list from all its lines, in lower case. Only spaces and tabs
 * are white space.
 */
export function membersOf(fields: Map<string, string[]>, name: string): string[] {
  const list = (fields.get(name) ?? []).join(',').toLowerCase()
  return list.split(',').map((member) => member.replace(/^[\t ]+|[\t ]+$/g, ''))
}
