import type { IncomingMessage } from 'node:http'
import type { Limits } from './limits.ts'
import type { Refusal, Request } from './message.ts'

/** What a request's head says, beyond what every request says. */
export interface Head {
  request: Request
  /** Set where the head is not one that HTTP lets us answer. */
  flaw: Refusal | null
  /** Whether no other request can be read behind it, as a body follows that nobody wants, or something stranger. */
  isLast: boolean
}

/**
 * Reads the head that the parser accepted, and finds what it should not have accepted. The raw header list is read
 * and never the parsed object, which hides repeated lines.
 */
export function readHead(message: IncomingMessage, limits: Limits): Head {
  const { rawHeaders } = message
  const target = message.url!
  let headerBytes = 0
  let hosts = 0
  let host = ''
  let authorizations = 0
  let authorization: string | null = null
  let hasCoding = false
  let isMiscoded = false
  let isLast = false

  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    const value = rawHeaders[index + 1]!
    headerBytes += name.length + value.length
    switch (name.length) {
      case 4:
        if (name.toLowerCase() === 'host') {
          hosts += 1
          host = value
        }
        break
      case 7:
        // No upgrade is made, but Node drops the rest of the packet as if it belonged to one.
        if (name.toLowerCase() === 'upgrade') isLast = true
        break
      case 10:
        // In HTTP/1.0 Node goes by keep-alive alone, but close comes before it (RFC 9112, 9.3).
        if (message.httpVersionMinor === 0 && name.toLowerCase() === 'connection')
          isLast ||= CLOSE_OPTION.test(value)
        break
      case 13:
        if (name.toLowerCase() === 'authorization') {
          authorizations += 1
          authorization = value
        }
        break
      case 14:
        if (name.toLowerCase() === 'content-length') isLast ||= Number(value) !== 0
        break
      case 17:
        if (name.toLowerCase() === 'transfer-encoding') {
          isMiscoded ||= hasCoding || value.toLowerCase() !== 'chunked'
          hasCoding = true
        }
    }
  }

  const request = {
    method: message.method!,
    path: pathOf(target),
    authorization: authorizations === 1 ? authorization : null,
  }
  return { request, flaw: findFlaw(), isLast: isLast || hasCoding }

  function findFlaw(): Refusal | null {
    const { httpVersionMajor: major, httpVersionMinor: minor } = message
    if (major > 1) return 505
    if (major < 1) return 400
    if (target.length > limits.targetBytesMax) return 414
    if (headerBytes > limits.headerBytesMax) return 431
    if (rawHeaders.length > 2 * limits.headerLinesMax) return 431
    if (hosts > 1 || (hosts === 0 && minor === 1)) return 400 // RFC 9112, 3.2
    if (!isHost(host)) return 400
    // RFC 9112, 6.1 and 6.3: where such a message ends, others may read otherwise.
    if (isMiscoded || (hasCoding && minor === 0)) return 400
    return null
  }
}

const CLOSE_OPTION = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i

const PORT = '(?::[0-9]*)?'
const HOST = new RegExp(`^(?:\\[[0-9A-Za-z:.]+\\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)${PORT}$`)

/** RFC 3986, 3.2.2: a registered name, an IPv4 or a bracketed IP address, with an optional port. Empty is allowed. */
function isHost(value: string): boolean {
  return HOST.test(value)
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i

function pathOf(target: string): string {
  const origin = target.startsWith('/') ? target : fromAbsolute(target)
  const query = origin.indexOf('?')
  return query === -1 ? origin : origin.slice(0, query)
}

/** RFC 9112, 3.2.2: a server has to accept the absolute form. Whom it names is not asked. */
function fromAbsolute(target: string): string {
  const rest = target.replace(ABSOLUTE_FORM, '')
  if (rest === target) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}
