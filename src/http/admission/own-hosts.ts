import { isIP } from 'node:net'
import { isLoopback } from '../client-address.ts'

/**
 * True if a listener answers requests with this Host field. A web page can rebind its own name to a
 * loopback address, and would then read what only this machine may see. So a listener on loopback
 * answers for IP addresses, `localhost` and these names only. A request without Host comes from no
 * browser.
 */
export function createIsOwnHost(
  listening: string,
  names: readonly string[],
): (host: string | undefined) => boolean {
  if (!isLoopback(listening)) return () => true
  const own = ['', 'localhost', ...names.map((name) => name.toLowerCase())]
  return (host = '') => {
    const name = host.replace(/:\d*$/, '').toLowerCase()
    return own.includes(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
  }
}
