import { isIP } from 'node:net'
import { isLoopback } from '../client-address.ts'

/** The hosts for which a listener answers. */
export interface OwnHosts {
  /** Call it with the address of the listener, before its first request. */
  listenOn(address: string): void
  /** True if the listener answers requests with this Host field. */
  has(host: string | undefined): boolean
}

/**
 * A web page can rebind its own name to a loopback address, and would then read what only this
 * machine may see. So a listener on loopback answers for IP addresses, `localhost` and these names
 * only. A request without Host comes from no browser.
 */
export function createOwnHosts(names: readonly string[]): OwnHosts {
  const own = ['', 'localhost', ...names.map((name) => name.toLowerCase())]
  let isOpen = false
  return {
    listenOn(address) {
      isOpen = !isLoopback(address)
    },

    has(host = '') {
      const name = host.replace(/:\d*$/, '').toLowerCase()
      return isOpen || own.includes(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
    },
  }
}
