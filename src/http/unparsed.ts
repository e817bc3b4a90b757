import type { Refusal } from './message.ts'

/** What the parser reports of bytes that it could not read as a request. */
export interface ParserError extends Error {
  code?: string
  /** The packet in which it stopped, and how many of its bytes it had read. */
  rawPacket?: Buffer
  bytesParsed?: number
}

const LINE_MAX = 8_192
// The method's beginning may have been in an earlier packet, so any part of a token is accepted, down to none.
const UNKNOWN_METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]* +[!-~]+ +HTTP\/1\.[01]\r?\n/

/**
 * The status for what never became a request; null where the rest of its first line has to be seen first.
 * `seen` are the bytes from where the parser stopped.
 */
export function statusForUnparsed(error: ParserError, seen: string): Refusal | null {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    case 'HPE_HEADER_OVERFLOW':
      // A head that outgrew the parser: in its target if no line has ended, in its headers otherwise.
      return isStartOfRequest(error) && !error.rawPacket?.includes('\n') ? 414 : 431
    case 'HPE_INVALID_METHOD':
      // A method nobody knows is a request like any other to an unsupported path (spec 4.4), if it is a request.
      if (UNKNOWN_METHOD.test(seen)) return 404
      return seen.includes('\n') || seen.length > LINE_MAX || !/^[ -~\r]*$/.test(seen) ? 400 : null
    default:
      return 400
  }
}

function isStartOfRequest(error: ParserError): boolean {
  return /^\s*[A-Z]+ /.test(error.rawPacket?.toString('latin1', 0, 32) ?? '')
}
