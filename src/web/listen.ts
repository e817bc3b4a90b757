import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { bind } from '../http/bind.ts'
import { createOwnHosts } from '../http/admission/own-hosts.ts'
import { createPeerLimit, type PeerRule } from '../http/admission/peer-limit.ts'

export type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown

export interface DashboardListener {
  host: string
  port: number
  /** Answers the requests under way, then closes every connection. */
  close(): Promise<void>
}

/** Longest time from the connection, or the first byte of a request, to the end of the request. */
const REQUEST_MS = 15_000
/** How often the server checks REQUEST_MS. */
const CHECK_MS = 2_000
const KEEP_ALIVE_MS = 75_000
const DRAIN_MS = 5_000
const HEAD_BYTES_MAX = 32_768
export const CONNECTIONS_MAX = 1_000

export interface DashboardListening {
  load(): Promise<Handler>
  onFault(fault: unknown): void
  host: string
  port: number
  reusePort: boolean
  peers: PeerRule
  /** Where users reach the operator. Null if the operator has not set it. */
  contact: string | null
  /** The host names of its public URLs, which requests may have on a loopback address. */
  names: readonly string[]
}

/**
 * The dashboard's own listener. The first request loads the pages, so that an unused dashboard
 * costs neither start-up time nor memory. After a failed load, the next request tries again.
 */
export async function listenForDashboard({
  load,
  onFault,
  host,
  port,
  reusePort,
  peers,
  contact,
  names,
}: DashboardListening): Promise<DashboardListener> {
  let loading: Promise<Handler> | null = null
  const hosts = createOwnHosts([host, ...names])

  const options = {
    maxHeaderSize: HEAD_BYTES_MAX,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_MS,
  }
  const server = createServer({ ...options, keepAliveTimeout: KEEP_ALIVE_MS })
  server.on('request', (incoming, outgoing) => void answer(incoming, outgoing))
  server.maxConnections = CONNECTIONS_MAX
  server.on('connection', createPeerLimit(CONNECTIONS_MAX, peers))

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (!hosts.has(incoming.headers.host)) return sayMisdirected(outgoing)
    try {
      loading ??= load()
      const handler = await loading
      await handler(incoming, outgoing)
    } catch (fault) {
      loading = null
      onFault(fault)
      if (outgoing.headersSent) outgoing.destroy()
      else sayUnavailable(outgoing, contact)
    }
  }

  const address = await bind(server, host, port, reusePort)
  hosts.listenOn(address.host)
  return {
    ...address,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      await Promise.race([closed, delay(DRAIN_MS, null, { ref: false })])
      server.closeAllConnections()
      await closed
    },
  }
}

/** The answer to a page of another site that has rebound its name, and to an unknown proxy. */
function sayMisdirected(outgoing: ServerResponse): void {
  saySentence(
    outgoing,
    421,
    'This dashboard does not answer for this host name. Open it by its address or as localhost. ' +
      'If a proxy is in front of it, its operator must set DASHBOARD_URL.',
  )
}

/** The answer while the pages or the database can't be loaded. */
function sayUnavailable(outgoing: ServerResponse, contact: string | null): void {
  outgoing.setHeader('Retry-After', '5')
  saySentence(
    outgoing,
    503,
    'The dashboard is not available right now. Please try again in a moment.' +
      (contact === null
        ? ''
        : ` If this lasts, ask the operator: ${contact.replace(/^mailto:/, '')}`),
  )
}

function saySentence(outgoing: ServerResponse, status: number, sentence: string): void {
  outgoing.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    Connection: 'close',
  })
  outgoing.end(`${sentence}\n`)
}
