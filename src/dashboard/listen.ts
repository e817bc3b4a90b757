import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown

export interface DashboardListener {
  host: string
  port: number
  /** Answers what was asked, then ends every connection. */
  close(): Promise<void>
}

/** From the connection, or the first byte of a request, to its end; in milliseconds, as all below. */
const REQUEST_MS = 15_000
/** How often REQUEST_MS is checked. */
const CHECK_MS = 2_000
const KEEP_ALIVE_MS = 75_000
const DRAIN_MS = 5_000
const HEAD_BYTES_MAX = 32_768
const CONNECTIONS_MAX = 1_000
/** Of one address, unless it is a trusted proxy's: an office, or one who sends forms byte by byte. */
const CONNECTIONS_OF_ADDRESS_MAX = 200

/**
 * The dashboard's own listener. What answers is loaded by the first request, so that a service whose dashboard nobody
 * opens neither starts later nor holds more memory for it; a load that failed is tried again by the next request.
 */
export async function listenForDashboard(
  load: () => Promise<Handler>,
  onFault: (fault: unknown) => void,
  host: string,
  port: number,
  readPeer: (socketAddress: string) => string | null,
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

  await new Promise<void>((resolve, reject) => {
    // It stays: a connection that could not be accepted later on is not to end the process.
    server.on('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return {
    host: address.address,
    port: address.port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      await Promise.race([closed, delay(DRAIN_MS, null, { ref: false })])
      server.closeAllConnections()
      await closed
    },
  }
}

/** Closes at once what one address opens beyond its share. */
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

/** All that can be said without a database. */
function sayUnavailable(outgoing: ServerResponse): void {
  outgoing.writeHead(503, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    'Retry-After': '5',
    Connection: 'close',
  })
  outgoing.end('The dashboard is not available now. Please try again in a moment.\n')
}
