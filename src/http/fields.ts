import { BLANK, INCOMPLETE, INVALID, isIn, skip, skipLineEnd, TOKEN, VALUE } from './characters.ts'

const NO_FIELDS = {
  /** The position behind the empty line. */
  end: 0,
  lines: 0,
  /** The size of all names and values. */
  bytes: 0,
  hosts: 0,
  host: '',
  authorizations: 0,
  authorization: '',
  /** The lines that say how long the body is, or whether it has chunks. */
  framings: 0,
  hasCoding: false,
  /** True if one of these lines is invalid. */
  isMisframed: false,
  hasBody: false,
  hasUpgrade: false,
  awaitsContinue: false,
  saysClose: false,
  saysKeepAlive: false,
}

/** What the service takes from the header lines of one head. */
export type Fields = typeof NO_FIELDS

/**
 * Reads header lines and the empty line behind them. Null if they are incomplete, 431 as soon as
 * there are more than `linesMax`.
 */
export function readFields(
  text: string,
  from: number,
  limit: number,
  linesMax: number,
): Fields | 400 | 431 | null {
  const fields = { ...NO_FIELDS }
  let at = from
  while (at < limit) {
    const nameEnd = skip(TOKEN, text, at, limit)
    if (nameEnd === limit) return null
    if (nameEnd === at) {
      fields.end = skipLineEnd(text, at, limit)
      if (fields.end === INVALID) return 400
      return fields.end === INCOMPLETE ? null : fields
    }
    if (text[nameEnd] !== ':') return 400
    const valueStart = skip(BLANK, text, nameEnd + 1, limit)
    let valueEnd = skip(VALUE, text, valueStart, limit)
    const next = skipLineEnd(text, valueEnd, limit)
    if (next === INVALID) return 400
    if (next === INCOMPLETE) return null
    while (valueEnd > valueStart && isIn(BLANK, text, valueEnd - 1)) valueEnd -= 1
    fields.lines += 1
    if (fields.lines > linesMax) return 431
    fields.bytes += nameEnd - at + valueEnd - valueStart
    if (isRead(nameEnd - at))
      readField(fields, text.slice(at, nameEnd).toLowerCase(), text.slice(valueStart, valueEnd))
    at = next
  }
  return null
}

/** The lengths of the names below, as bits. Most lines have a name that nothing reads. */
const LENGTHS = (1 << 4) | (1 << 6) | (1 << 7) | (1 << 10) | (1 << 13) | (1 << 14) | (1 << 17)

function isRead(length: number): boolean {
  return length < 32 && ((LENGTHS >> length) & 1) === 1
}

function readField(fields: Fields, name: string, value: string): void {
  switch (name) {
    case 'host':
      fields.hosts += 1
      fields.host = value
      break
    case 'authorization':
      fields.authorizations += 1
      fields.authorization = value
      break
    case 'content-length':
      fields.framings += 1
      fields.isMisframed ||= !isLength(value)
      fields.hasBody ||= Number(value) !== 0
      break
    case 'transfer-encoding':
      fields.framings += 1
      fields.hasCoding = true
      fields.hasBody = true
      fields.isMisframed ||= value.toLowerCase() !== 'chunked'
      break
    case 'connection':
      fields.saysClose ||= CLOSE_OPTION.test(value)
      fields.saysKeepAlive ||= KEEP_ALIVE_OPTION.test(value)
      break
    case 'upgrade':
      fields.hasUpgrade = true
      break
    case 'expect':
      fields.awaitsContinue ||= CONTINUE.test(value)
  }
}

const CLOSE_OPTION = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
const KEEP_ALIVE_OPTION = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

const LENGTH_MAX = 2n ** 64n - 1n

/** Bounds the digits first: a BigInt of thousands of them takes a millisecond. */
function isLength(value: string): boolean {
  const digits = value.replace(/^0+(?=.)/, '')
  return /^[0-9]{1,20}$/.test(digits) && BigInt(digits) <= LENGTH_MAX
}

const PORT = '(?::[0-9]*)?'
const HOST = new RegExp(`^(?:\\[[0-9A-Za-z:.]+\\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)${PORT}$`)

/**
 * RFC 3986, 3.2.2: a registered name, an IPv4 or a bracketed IP address, with an optional port.
 * Empty is allowed.
 */
export function isHost(value: string): boolean {
  return HOST.test(value)
}
