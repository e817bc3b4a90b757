import { isIPv4, isIPv6 } from 'node:net'
import { hasInvisible } from '../model/characters/invisible.ts'

/** Of a link. Links of Steam and FiveM have a word before the address. */
const SCHEME = /^[a-z][a-z\d+.-]*:\/\/(?:connect\/)?/i

/**
 * The address in what people type or paste: without a scheme such as `https://`, and without a
 * slash or a dot at its end. A text without an address in it stays as it is. So does a valid
 * address that `mayStay`, because a server may be stored with it.
 */
export function trimAddress(text: string, mayStay: boolean): string {
  if (mayStay && complaintAboutAddress(text) === null) return text
  const bare = text
    .replace(SCHEME, '')
    .replace(/\/$/, '')
    .replace(/\.(?=:\d+$|$)/, '')
  return complaintAboutAddress(bare) === null ? bare : text
}

const LABEL = '[\\p{L}\\p{N}_](?:[\\p{L}\\p{N}_-]{0,61}[\\p{L}\\p{N}_])?'
const DOMAIN = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*\\.?$`, 'u')

// Every text has this shape.
const HOST_AND_PORT = /^(?:\[([^\]%]*)\]|([^:]*))(?::(.*))?$/s

/**
 * What is wrong with an address. It must be a domain, an IPv4 address or a bracketed IPv6 address,
 * with an optional port from 1 to 65535 (spec 2.1). Null if it is.
 */
export function complaintAboutAddress(text: string): string | null {
  if (/^[\da-f.]*:[\da-f.]*:[\da-f.:]*$/i.test(text))
    return 'must have brackets around an IPv6 address, such as [2001:db8::1]:19132'
  const [, ipv6, domain = '', port = '1'] = HOST_AND_PORT.exec(text)!
  const isPort = /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535
  const isHost = ipv6 === undefined ? DOMAIN.test(domain) && !hasInvisible(domain) : isIPv6(ipv6)
  if (!isPort || !isHost) return 'must be a domain or an IP address, with an optional :port'
  // No top-level domain is a number. Browsers read such hosts as IPv4 addresses, too.
  const [last = ''] = /[^.]*$/.exec(domain.replace(/\.$/, ''))!
  if (ipv6 === undefined && /^(?:\d+|0x[\da-f]*)$/i.test(last.normalize('NFKC')) && !isIPv4(domain))
    return 'ends in a number, so it must be an IPv4 address such as 192.0.2.1'
  return null
}
