import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { bind } from '../http/bind.ts'
import { createOwnHosts } from '../http/admission/own-hosts.ts'
import { createPeerLimit, type PeerRule } from '../http/admission/peer-limit.ts'

export type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown

export interface HandlerListener {
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
/** While the server closes, how often it closes what has become idle. */
const IDLE_MS = 50
const HEAD_BYTES_MAX = 32_768
export const CONNECTIONS_MAX = 1_000
/** For the programs of one site. */
export const MANAGEMENT_CONNECTIONS_MAX = 400

export interface HandlerListening {
  load(): Promise<Handler>
  onFault(fault: unknown): void
  host: string
  port: number
  reusePort: boolean
  peers: PeerRule
  /** The host names that requests may have on a loopback address, beside `host`. */
  names: readonly string[]
  connectionsMax: number
  /** The answer to a foreign host name: a page that has rebound its own, or an unknown proxy. */
  sayMisdirected(outgoing: ServerResponse): void
  /** The answer while the handler can't be loaded. */
  sayUnavailable(outgoing: ServerResponse): void
  /** The answer to what is no request, or takes too long. By default that of Node.js. */
  onClientError?: (error: Error, socket: Duplex) => void
}

export interface DashboardListening
  extends Pick<
    HandlerListening,
    'load' | 'onFault' | 'host' | 'port' | 'reusePort' | 'peers' | 'names'
  > {
  /** Where users reach the operator. Null if the operator has not set it. */
  contact: string | null
}

/** The dashboard's own listener. */
export function listenForDashboard({
  contact,
  ...listening
}: DashboardListening): Promise<HandlerListener> {
  return listenForHandler({
    ...listening,
    connectionsMax: CONNECTIONS_MAX,
    sayMisdirected,
    sayUnavailable: (outgoing) => sayUnavailable(outgoing, contact),
  })
}

/**
 * Listens on node:http. The first request loads the handler, so that an unused listener costs
 * neither start-up time nor memory. After a failed load, the next request tries again.
 */
export async function listenForHandler({
  load,
  onFault,
  host,
  port,
  reusePort,
  peers,
  names,
  connectionsMax,
  onClientError,
  ...answers
}: HandlerListening): Promise<HandlerListener> {
  let loading: Promise<Handler> | null = null
  const hosts = createOwnHosts([host, ...names])

  const options = {
    maxHeaderSize: HEAD_BYTES_MAX,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_MS,
  }
  const server = createServer({ ...options, keepAliveTimeout: KEEP_ALIVE_MS })
  server.on('request', (incoming, outgoing) => void answer(incoming, outgoing))
  if (onClientError !== undefined) server.on('clientError', onClientError)
  server.maxConnections = connectionsMax
  server.on('connection', createPeerLimit(connectionsMax, peers))

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (!hosts.has(incoming.headers.host)) return answers.sayMisdirected(outgoing)
    try {
      loading ??= load()
      const handler = await loading
      await handler(incoming, outgoing)
    } catch (fault) {
      loading = null
      onFault(fault)
      if (outgoing.headersSent) outgoing.destroy()
      else answers.sayUnavailable(outgoing)
    }
  }

  const address = await bind(server, host, port, reusePort)
  hosts.listenOn(address.host)
  return {
    ...address,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      // A connection whose answer ends from now on is idle, too.
      const timer = setInterval(() => server.closeIdleConnections(), IDLE_MS)
      await Promise.race([closed, delay(DRAIN_MS, null, { ref: false })])
      clearInterval(timer)
      server.closeAllConnections()
      await closed
    },
  }
}

function sayMisdirected(outgoing: ServerResponse): void {
  saySentence(
    outgoing,
    421,
    'This dashboard does not answer for this host name. Open it by its address or as localhost. ' +
      'If a proxy is in front of it, its operator must set DASHBOARD_URL.',
  )
}

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
