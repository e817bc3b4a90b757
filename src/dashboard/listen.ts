import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { bind } from '../http/bind.ts'

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
/**
 * Connections of one client address, which may be an office or an attacker. Trusted proxies have no
 * such limit.
 */
const CONNECTIONS_OF_ADDRESS_MAX = 200

/**
 * The dashboard's own listener. The first request loads the pages, so that an unused dashboard
 * costs neither start-up time nor memory. After a failed load, the next request tries again.
 */
export async function listenForDashboard(
  load: () => Promise<Handler>,
  onFault: (fault: unknown) => void,
  host: string,
  port: number,
  readPeer: (socketAddress: string) => string | null,
  reusePort = false,
): Promise<DashboardListener> {
  let loading: Promise<Handler> | null = null

  const options = {
    maxHeaderSize: HEAD_BYTES_MAX,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_MS,
  }
  const server = createServer({ ...options, keepAliveTimeout: KEEP_ALIVE_MS })
  server.on('request', (incoming, outgoing) => void answer(incoming, outgoing))
  server.maxConnections = CONNECTIONS_MAX
  limitConnections(server, readPeer)

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      loading ??= load()
      const handler = await loading
      await handler(incoming, outgoing)
    } catch (fault) {
      loading = null
      onFault(fault)
      if (outgoing.headersSent) outgoing.destroy()
      else sayUnavailable(outgoing)
    }
  }

  const address = await bind(server, host, port, reusePort)
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

/** Closes connections at once that one address opens beyond its limit. */
function limitConnections(
  server: Server,
  readPeer: (socketAddress: string) => string | null,
): void {
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const address = readPeer(socket.remoteAddress ?? '')
    if (address === null) return
    const count = open.get(address) ?? 0
    if (count >= CONNECTIONS_OF_ADDRESS_MAX) {
      socket.destroy()
      return
    }
    open.set(address, count + 1)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}

/** The answer while the pages or the database can't be loaded. */
function sayUnavailable(outgoing: ServerResponse): void {
  outgoing.writeHead(503, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    'Retry-After': '5',
    Connection: 'close',
  })
  outgoing.end('The dashboard is not available right now. Please try again in a moment.\n')
}
