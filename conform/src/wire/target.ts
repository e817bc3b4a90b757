import { isIP } from 'node:net'

/** Where the API is. */
export interface Target {
  /** The base address without a slash at its end. */
  url: string
  isTls: boolean
  host: string
  port: number
  /** The value of the Host field. */
  authority: string
  /** The path of the base address, without a slash at its end. */
  path: string
  /** True if the API runs on this machine. */
  isLocal: boolean
}

/** Returns null if the text is no base address. */
export function readTarget(text: string): Target | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return null
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') return null
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isTls = url.protocol === 'https:'
  const path = url.pathname.replace(/\/+$/, '')
  return {
    url: `${url.origin}${path}`,
    isTls,
    host,
    port: Number(url.port) || (isTls ? 443 : 80),
    authority: url.host,
    path,
    isLocal: isLoopback(host),
  }
}

function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.')
  return host === '::1' || host === 'localhost'
}
