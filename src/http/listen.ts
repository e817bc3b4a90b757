import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Connection,
  closeGently,
  expectNoMore,
  newConnection,
  takeNoMore,
  writeAndClose,
} from './connection.ts'
import { readHead } from './head.ts'
import { LIMITS, type Limits, PARSER_HEAD_BYTES_MAX } from './limits.ts'
import type { Application, Refusal, Response } from './message.ts'
import { type ParserError, statusForUnparsed } from './unparsed.ts'

export interface Listener {
  host: string
  port: number
  /** Answers what was asked, refuses what comes after, and is done within `drainGraceMs` and `drainMs`. */
  close(): Promise<void>
}

/**
 * Listens for HTTP/1.1 and hands every request to the application. Whatever bytes arrive, each request gets exactly
 * one answer, in the application's form, and garbage gets one before its connection is closed.
 */
export async function listen(
  application: Application,
  host: string,
  port: number,
  limits: Limits = LIMITS,
): Promise<Listener> {
  const connections = new Set<Connection>()
  // Of closed ones too: whatever Node may still tell about a socket, it has a connection.
  const connectionOf = new WeakMap<Socket, Connection>()
  let drained: Promise<void> | null = null

  const server = createServer({
    maxHeaderSize: PARSER_HEAD_BYTES_MAX,
    // Checked in readHead, with an answer in the application's form.
    requireHostHeader: false,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.headersMs,
    connectionsCheckingInterval: limits.checkMs,
    keepAliveTimeout: limits.keepAliveMs,
  })
  // Node hides lines past this number and still frames the message by them: one more than is taken is enough to know.
  server.maxHeadersCount = limits.headerLinesMax + 1
  server.maxConnections = limits.connectionsMax
  server.setTimeout(limits.silenceMs)
  // A client that has said all it wants to say is still to be answered. Node reads this; its types do not know it.
  Object.assign(server, { httpAllowHalfOpen: true })

  server.on('connection', (socket) => {
    const connection = newConnection(socket)
    connections.add(connection)
    connectionOf.set(socket, connection)
    socket.once('close', () => connections.delete(connection))
  })
  server.on('request', onRequest)
  // Without these two Node sends a 100, or a 417 of its own. No body is wanted, so nothing is to be continued; but the
  // client may send one all the same, and nothing tells it from a request.
  server.on('checkContinue', (message: IncomingMessage, outgoing: ServerResponse) =>
    onRequest(message, outgoing, true),
  )
  server.on('checkExpectation', onRequest)
  server.on('connect', ({ socket }: IncomingMessage) => {
    // Node has let go of the connection. An error that nobody hears would end the process.
    socket.on('error', () => {})
    socket.on('timeout', () => socket.destroy())
    refuse(connectionOf.get(socket)!, 404)
  })
  server.on('clientError', onUnparsed)

  function onRequest(
    message: IncomingMessage,
    outgoing: ServerResponse,
    awaitsContinue = false,
  ): void {
    const startedAt = performance.now()
    const connection = connectionOf.get(message.socket)!
    if (connection.isClosing) return
    const { request, flaw, isLast } = readHead(message, limits)
    connection.underWay += 1
    connection.last = outgoing
    outgoing.on('finish', connection.onFinish)
    // Where the client wants this to be the last, Node closes; it has promised to send nothing more.
    if (!outgoing.shouldKeepAlive) expectNoMore(connection)
    const isOneTooMany = connection.underWay >= limits.pipelinedMax
    if (isLast || isOneTooMany || awaitsContinue || flaw !== null) endWith(connection, outgoing)

    const answer = flaw === null ? application.answer(request) : application.refuse(flaw)
    if (answer instanceof Promise) void answer.then(send)
    else send(answer)

    function send(response: Response): void {
      finish(connection, outgoing)
      outgoing.writeHead(response.status, response.headers as string[])
      outgoing.end(response.body, 'latin1')
      application.observe({
        kind: 'answered',
        method: request.method,
        route: response.route,
        status: response.status,
        milliseconds: performance.now() - startedAt,
        apiKeyId: response.apiKeyId,
      })
    }
  }

  /** Called before an answer is given: it may have become the last on its connection since the request. */
  function finish(connection: Connection, outgoing: ServerResponse): void {
    const { last, isClosing } = connection
    const isLast = outgoing === last && (isClosing || drained !== null)
    if (isLast && outgoing.shouldKeepAlive) endWith(connection, outgoing)
  }

  /** Makes this the last answer of a connection on which something may still arrive. */
  function endWith(connection: Connection, outgoing: ServerResponse): void {
    expectNoMore(connection)
    outgoing.shouldKeepAlive = false
    // Node calls this once it has written an answer that closes the connection.
    connection.socket.destroySoon = () => closeGently(connection.socket, limits.lingerMs)
  }

  /** Called for the packet that the parser could not read, and for every one after it. */
  function onUnparsed(error: ParserError, socket: Socket): void {
    const connection = connectionOf.get(socket)!
    if (connection.isClosing || !socket.writable) return
    const { rawPacket, bytesParsed } = error
    const isFirst = connection.unparsed === ''
    connection.unparsed += rawPacket?.toString('latin1', isFirst ? bytesParsed : 0) ?? ''
    const status = statusForUnparsed(error, connection.unparsed)
    if (status !== null) refuse(connection, status)
    // The rest of the line may never come. Before Node hears of the end, and ends the connection too.
    else if (isFirst) socket.prependOnceListener('end', () => refuse(connection, 400))
  }

  function refuse(connection: Connection, status: Refusal): void {
    takeNoMore(connection, () => {
      writeAndClose(connection.socket, application.refuse(status), limits.lingerMs)
      application.observe({ kind: 'refused', status })
    })
  }

  async function drain(): Promise<void> {
    const closed = new Promise((resolve) => server.once('close', resolve))
    // Not the HTTP server's own close, which cuts idle connections on which a request may be under way.
    NetServer.prototype.close.call(server)
    await Promise.race([closed, delay(limits.drainGraceMs, null, { ref: false })])
    for (const connection of connections)
      takeNoMore(connection, () => closeGently(connection.socket, limits.lingerMs))
    await Promise.race([closed, delay(limits.drainMs, null, { ref: false })])
    for (const { socket } of connections) socket.destroy()
    await closed
    // Now only its timer is left.
    server.close()
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
    close: () => (drained ??= drain()),
  }
}
