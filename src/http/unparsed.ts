import type { Refusal } from './message.ts'

/** What the parser reports of bytes that it could not read as a request. */
export interface ParserError extends Error {
  code?: string
  reason?: string
  /** The packet in which it stopped, and then each that comes after. */
  rawPacket?: Buffer
  /** How many bytes of it had been read. Of later packets none are, and this does not say so. */
  bytesParsed?: number
}

/**
 * The status for what never became a request; null where the rest of its first line has to be seen first.
 * `unread` are the bytes from where the parser stopped.
 */
export function statusForUnparsed(error: ParserError, unread: string): Refusal | null {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    case 'HPE_HEADER_OVERFLOW':
      return isWithinTarget(error) ? 414 : 431
    case 'HPE_INVALID_METHOD':
      return statusForMethod(unread)
    case 'HPE_INVALID_CONSTANT':
      // The parser knows the method, of RTSP.
      return error.reason === 'Invalid method for HTTP/x.x request' ? 404 : 400
    default:
      return 400
  }
}

/**
 * Whether a head outgrew the parser before its first line had ended. Not known where that line began in an earlier
 * packet, which takes a target of more than the parser's 32 kB: that one is taken for headers.
 */
function isWithinTarget({ rawPacket, bytesParsed }: ParserError): boolean {
  return /(?:^|\n)[A-Z-]+ +[^ \r\n]*$/.test(rawPacket!.toString('latin1', 0, bytesParsed))
}

const LINE_MAX = 8_192
// The method's beginning may have been in an earlier packet, so any part of a token is accepted, down to none.
const UNKNOWN_METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]* +[!-~]+ +HTTP\/1\.[01]\r\n$/
const UNKNOWN_METHOD_AND_TARGET = /^[!#$%&'*+.^_`|~0-9A-Za-z-]* +[!-~]+$/

/** A method nobody knows is a request like any other to an unsupported path (spec 4.4), if it is a request. */
function statusForMethod(unread: string): Refusal | null {
  const end = unread.indexOf('\n') + 1
  const line = end === 0 ? unread : unread.slice(0, end)
  if (line.length > LINE_MAX)
    return UNKNOWN_METHOD_AND_TARGET.test(line.slice(0, LINE_MAX)) ? 414 : 400
  if (UNKNOWN_METHOD.test(line)) return 404
  // Without its end.
  return /^[ -~\r]*$/.test(line) ? null : 400
}
