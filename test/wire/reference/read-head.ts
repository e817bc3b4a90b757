import { METHODS } from 'node:http'

/*
 * A second reading of a request's head, as RFC 9110 and RFC 9112 have it and with nothing of the service in it. Where
 * the RFC leaves a choice it takes the stricter one, unless a comment says that the parser takes the other.
 */

export interface Head {
  method: string
  target: string
  /** Those of HTTP/1, and two that are read, but not answered like others. */
  version: string
  /** By lower-case name, the values of its lines. */
  fields: Map<string, string[]>
  /** Where the next request begins, if nothing belongs to this one. */
  end: number
}

/** The head that begins at `from`; what has to be answered where there is none; null where nothing was said. */
export function readHead(text: string, from: number): Head | 400 | 404 | null {
  const start = skipEmptyLines(text, from)
  if (start === text.length) return null
  const line = lineAt(text, start)
  if (isOfAnotherProtocol(text.slice(start))) return 404
  if (line === null) return 400
  const [, method = '', target = '', version = '0.9'] = REQUEST_LINE.exec(line) ?? []
  if (!KNOWN_METHODS.has(method)) return UNKNOWN_METHOD.test(line) ? 404 : 400
  if (method === 'PRI' || !VERSIONS.includes(version) || !isTarget(method, target)) return 400

  const fields = new Map<string, string[]>()
  for (let at = start + line.length + 2; ; ) {
    const field = lineAt(text, at)
    if (field === null) return 400
    at += field.length + 2
    if (field === '') return isFramed(fields) ? { method, target, version, fields, end: at } : 400
    const [, name = '', value = ''] = FIELD.exec(field) ?? []
    if (name === '') return 400
    const lower = name.toLowerCase()
    fields.set(lower, [...(fields.get(lower) ?? []), value])
  }
}

const VERSIONS = ['0.9', '1.0', '1.1', '2.0']
/** RTSP's. The parser knows them, and refuses them for their protocol before it has read the line. */
const RTSP =
  'DESCRIBE ANNOUNCE SETUP PLAY PAUSE TEARDOWN GET_PARAMETER SET_PARAMETER REDIRECT RECORD FLUSH'.split(
    ' ',
  )
const RTSP_LINE = new RegExp(`^(?:${RTSP.join('|')}) +(\\S+) +HTTP`)
/** PRI is HTTP/2's own (RFC 9113, 3.4). */
const KNOWN_METHODS = new Set([...METHODS, ...RTSP, 'PRI'])

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]"
/** The parser takes several spaces for one, as RFC 9112, 3, allows. */
const REQUEST_LINE = /^([A-Z-]+) +([!-~]+)(?: +HTTP\/([0-9]\.[0-9]))?$/
/** What may be read of a method that nobody knows, down to nothing: its beginning may be in an earlier packet. */
const UNKNOWN_METHOD = new RegExp(`^${TOKEN}* +[!-~]+ +HTTP/1\\.[01]$`)
const FIELD = new RegExp(
  `^(${TOKEN}+):[\\t ]*((?:[!-~\\x80-\\xff](?:[\\t -~\\x80-\\xff]*[!-~\\x80-\\xff])?)?)[\\t ]*$`,
)

function skipEmptyLines(text: string, from: number): number {
  let at = from
  while (text[at] === '\r' || text[at] === '\n') at += 1
  return at
}

/** The line without its CR LF, null where it has not got them yet. What has one of them alone is no line. */
function lineAt(text: string, from: number): string | null {
  const end = text.indexOf('\r\n', from)
  return end === -1 ? null : text.slice(from, end)
}

function isOfAnotherProtocol(rest: string): boolean {
  const [, target = ''] = RTSP_LINE.exec(rest) ?? []
  return isTarget('', target)
}

/** RFC 9112, 3.2. The characters are those that the parser takes: all that can be seen. */
function isTarget(method: string, target: string): boolean {
  if (method === 'CONNECT') return AUTHORITY.test(target)
  return /^[/*][!-~]*$/.test(target) || ABSOLUTE.test(target)
}

const HOST_AND_REST = "[0-9A-Za-z._~!$&'()*+,;=:@%[\\]-]*(?:[/?][!-~]*)?"
/** The parser lets a path follow; it is a 404 all the same. */
const AUTHORITY = new RegExp(`^${HOST_AND_REST}$`)
const ABSOLUTE = new RegExp(`^[A-Za-z]+://${HOST_AND_REST}$`)

const LENGTH_MAX = 2n ** 64n - 1n

/** RFC 9112, 6.1 and 6.3: no two ways to tell where the message ends, and none that contradicts itself. */
function isFramed(fields: Map<string, string[]>): boolean {
  const lengths = fields.get('content-length') ?? []
  const codings = membersOf(fields, 'transfer-encoding')
  const chunked = codings.indexOf('chunked')
  if (chunked !== -1 && chunked < codings.length - 1) return false
  if (lengths.length + (fields.has('transfer-encoding') ? 1 : 0) > 1) return false
  return lengths.every((length) => /^[0-9]+$/.test(length) && BigInt(length) <= LENGTH_MAX)
}

/** RFC 9110, 5.6.1: the members of a list, in lower case, from all its lines. Only spaces and tabs are white space. */
export function membersOf(fields: Map<string, string[]>, name: string): string[] {
  const list = (fields.get(name) ?? []).join(',').toLowerCase()
  return list.split(',').map((member) => member.replace(/^[\t ]+|[\t ]+$/g, ''))
}
