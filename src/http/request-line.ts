import { METHODS } from 'node:http'
import { INCOMPLETE, INVALID, skip, skipLineEnd, SPACE, TOKEN, VISIBLE } from './characters.ts'
import type { Limits } from './limits.ts'
import type { Refusal } from './message.ts'

export interface RequestLine {
  method: string
  target: string
  version: Version
  /** The position behind the line. */
  end: number
}

/** HTTP/2.0 is read so that it gets an answer of its own. */
type Version = 'HTTP/1.1' | 'HTTP/1.0' | 'HTTP/2.0'

/**
 * Reads a request line (RFC 9112, 3). Null if it is incomplete, unless `isFull` says that no more
 * of it will be read.
 */
export function readRequestLine(
  text: string,
  from: number,
  limit: number,
  isFull: boolean,
  { targetBytesMax }: Pick<Limits, 'targetBytesMax'>,
): RequestLine | Refusal | null {
  const methodEnd = skip(TOKEN, text, from, limit)
  if (methodEnd === limit) return isFull ? 400 : null
  // RFC 9112, 3 allows several spaces between the parts.
  const targetStart = skip(SPACE, text, methodEnd, limit)
  if (methodEnd === from || targetStart === methodEnd) return 400
  const targetEnd = skip(VISIBLE, text, targetStart, limit)
  const versionStart = skip(SPACE, text, targetEnd, limit)
  const versionEnd = skip(VISIBLE, text, versionStart, limit)
  const end = skipLineEnd(text, versionEnd, limit)
  if (end === INCOMPLETE) return isFull ? 414 : null
  if (end === INVALID || versionStart === targetEnd) return 400

  const method = text.slice(from, methodEnd)
  const target = text.slice(targetStart, targetEnd)
  const version = text.slice(versionStart, versionEnd)
  if (!isVersion(version)) return 400
  if (method !== 'GET' && !KNOWN_METHODS.has(method)) {
    if (version === 'HTTP/2.0' || method === 'PRI') return 400
    return target.length > targetBytesMax ? 414 : 404
  }
  return isTarget(method, target) ? { method, target, version, end } : 400
}

/**
 * The service answers an unknown method at the end of the line and reads no further: it can't know
 * what that method makes of the rest. HTTP/2 begins with PRI (RFC 9113, 3.4).
 */
const KNOWN_METHODS = new Set(METHODS)

function isVersion(version: string): version is Version {
  return version === 'HTTP/1.1' || version === 'HTTP/1.0' || version === 'HTTP/2.0'
}

const HOST_AND_REST = "[0-9A-Za-z._~!$&'()*+,;=:@%[\\]-]*(?:[/?].*)?"
const AUTHORITY = new RegExp(`^${HOST_AND_REST}$`)
const ABSOLUTE = new RegExp(`^[A-Za-z]+://${HOST_AND_REST}$`)

/** RFC 9112, 3.2. All characters are visible; the path of a GET is compared byte for byte. */
function isTarget(method: string, target: string): boolean {
  if (method === 'CONNECT') return AUTHORITY.test(target)
  return target.startsWith('/') || target.startsWith('*') || ABSOLUTE.test(target)
}

/** The target up to its `?`. */
export function pathOf(target: string): string {
  const origin = target.startsWith('/') ? target : fromAbsolute(target)
  const query = origin.indexOf('?')
  return query === -1 ? origin : origin.slice(0, query)
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?]*/i

/** RFC 9112, 3.2.2: a server must accept the absolute form. The service ignores its authority. */
function fromAbsolute(target: string): string {
  const rest = target.replace(ABSOLUTE_FORM, '')
  if (rest === target) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}
