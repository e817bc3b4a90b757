import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** The address under which a request counts. An IPv6 address counts by its /64 network. */
export type ReadAddress = (socketAddress: string, forwardedFor: string | undefined) => string

/**
 * Reads `X-Forwarded-For` from its end, while a trusted proxy wrote the entry. The client can forge
 * every earlier entry.
 */
export function createReadAddress(trustedProxies: readonly string[]): ReadAddress {
  const isTrusted = createIsWithin(trustedProxies)
  return (socketAddress, forwardedFor) => {
    let address = plain(socketAddress)
    const reported = (forwardedFor ?? '').split(',').map((part) => plain(part.trim()))
    while (isTrusted(address)) {
      const next = reported.pop()
      if (next === undefined || !(isIPv4(next) || isIPv6(next))) break
      address = next
    }
    return isIPv6(address) ? `${networkOf(address)}::/64` : address
  }
}

const LOOPBACK = ['127.0.0.0/8', '::1']

/**
 * The address under which a connection counts. Null for a trusted proxy and for this machine, which
 * may have a proxy: both have many clients.
 */
export function createReadPeer(
  trustedProxies: readonly string[],
): (socketAddress: string) => string | null {
  const hasManyClients = createIsWithin([...trustedProxies, ...LOOPBACK])
  const readAddress = createReadAddress([])
  return (address) => (hasManyClients(plain(address)) ? null : readAddress(address, undefined))
}

export function isLoopback(address: string): boolean {
  return createIsWithin(LOOPBACK)(plain(address))
}

function createIsWithin(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) =>
    isIPv4(address) ? list.check(address) : isIPv6(address) && list.check(address, 'ipv6')
}

/** Removes a port and a zone, and turns an IPv4-mapped IPv6 address into IPv4. */
function plain(reported: string): string {
  const withPort = /^\[(.*)\](?::\d+)?$/.exec(reported) ?? /^([\d.]+):\d+$/.exec(reported)
  const address = withPort?.[1] ?? reported
  const unscoped = address.replace(/%.*$/, '')
  if (!isIPv6(unscoped)) return unscoped
  const groups = groupsOf(unscoped)
  if (!groups.slice(0, 5).every((group) => group === 0) || groups[5] !== 0xffff) return unscoped
  const [high = 0, low = 0] = groups.slice(6)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function networkOf(address: string): string {
  return groupsOf(address)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  // A URL's host normalizes a dotted IPv4 tail to two hexadecimal groups.
  const text = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [head = '', tail] = text.split('::')
  if (tail === undefined) return numbers(head)
  const [first, last] = [numbers(head), numbers(tail)]
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
}

function numbers(part: string): number[] {
  return part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
}
