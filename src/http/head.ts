import { LINE_END, skip } from './characters.ts'
import { type Fields, isHost, readFields } from './fields.ts'
import { HEAD_BYTES_MAX, type Limits } from './limits.ts'
import type { Refusal, Request } from './message.ts'
import { pathOf, readRequestLine, type RequestLine } from './request-line.ts'

/** A request whose head follows the grammar. */
export interface Head extends Request {
  /** The status with which to refuse the request; null if the head is valid. */
  flaw: Refusal | null
  /**
   * True if no further request can be read from this connection: the client closes it, or a body or
   * another protocol follows.
   */
  isLast: boolean
  /** The position behind the head. */
  end: number
}

/**
 * Reads the head that begins at `from`, in Latin-1 text (RFC 9112, 2 to 6). Returns a status if the
 * bytes are no request, and null if the head is incomplete. Reads at most HEAD_BYTES_MAX bytes, so
 * that the result does not depend on how packets cut them.
 */
export function readHead(text: string, from: number, limits: Limits): Head | Refusal | null {
  const start = skipEmptyLines(text, from)
  const limit = Math.min(text.length, start + HEAD_BYTES_MAX)
  const isFull = limit - start === HEAD_BYTES_MAX

  const line = readRequestLine(text, start, limit, isFull, limits)
  if (line === null || typeof line === 'number') return line
  const fields = readFields(text, line.end, limit, limits.headerLinesMax)
  if (fields === 431 || (fields === null && isFull))
    return line.target.length > limits.targetBytesMax ? 414 : 431
  if (fields === null || fields === 400) return fields

  // The service is no proxy: the authority that CONNECT names is no path of it.
  if (line.method === 'CONNECT') return isFramed(line, fields) ? 404 : 400
  return {
    method: line.method,
    path: pathOf(line.target),
    host: fields.host,
    authorization: fields.authorizations === 1 ? fields.authorization : null,
    flaw: findFlaw(line, fields, limits),
    isLast: isLast(line, fields),
    end: fields.end,
  }
}

/** RFC 9112, 2.2: a client may send empty lines before a request. */
export function skipEmptyLines(text: string, from: number): number {
  return skip(LINE_END, text, from, text.length)
}

function findFlaw(line: RequestLine, fields: Fields, limits: Limits): Refusal | null {
  const { version, target } = line
  if (!isFramed(line, fields)) return 400
  if (version === 'HTTP/2.0') return 505
  if (target.length > limits.targetBytesMax) return 414
  if (fields.bytes > limits.headerBytesMax) return 431
  // RFC 9112, 3.2
  if (fields.hosts > 1 || (fields.hosts === 0 && version === 'HTTP/1.1')) return 400
  return isHost(fields.host) ? null : 400
}

/** RFC 9112, 6.1 and 6.3: another reader may find a different end of a message that fails this. */
function isFramed({ version }: RequestLine, { framings, hasCoding, isMisframed }: Fields): boolean {
  return framings <= 1 && !isMisframed && !(hasCoding && version === 'HTTP/1.0')
}

/** RFC 9112, 9.3. A body or another protocol ends the reading, too. */
function isLast({ version }: RequestLine, fields: Fields): boolean {
  if (fields.saysClose || fields.hasBody || fields.hasUpgrade) return true
  return version === 'HTTP/1.0' ? !fields.saysKeepAlive : fields.awaitsContinue
}
