import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { closeGently, connectionOf, writeAndClose } from './connection.ts'
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
  let isDraining = false

  const server = createServer({
    maxHeaderSize: PARSER_HEAD_BYTES_MAX,
    // Checked in readHead, with an answer in the application's form.
    requireHostHeader: false,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.headersMs,
    connectionsCheckingInterval: limits.checkMs,
    keepAliveTimeout: limits.keepAliveMs,
  })
  // No limit but that of bytes: Node hides lines past this number and still frames the message by them.
  server.maxHeadersCount = 0
  server.maxConnections = limits.connectionsMax
  server.setTimeout(limits.silenceMs)
  // A client that has said all it wants to say is still to be answered. Node reads this; its types do not know it.
  Object.assign(server, { httpAllowHalfOpen: true })

  server.on('request', onRequest)
  // Without these two Node sends a 100, or a 417 of its own. No body is wanted, so nothing is to be continued.
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('connect', (_message: IncomingMessage, socket: Socket) => refuse(socket, 404))
  server.on('clientError', onUnparsed)

  function onRequest(message: IncomingMessage, outgoing: ServerResponse): void {
    const startedAt = performance.now()
    const { socket } = message
    const connection = connectionOf(socket)
    if (connection.isClosing) return
    const { request, flaw, hasBody } = readHead(message, limits)
    connection.unanswered += 1
    if (flaw !== null) {
      send(application.refuse(flaw), true)
      return
    }

    if (connection.unanswered >= limits.pipelinedMax) socket.pause()
    const answer = application.answer(request)
    if (answer instanceof Promise) void answer.then((response) => send(response, hasBody))
    else send(answer, hasBody)

    function send(response: Response, isLast: boolean): void {
      connection.unanswered -= 1
      if (connection.unanswered === 0 && socket.isPaused()) socket.resume()
      if (isLast || connection.isClosing || isDraining) {
        connection.isClosing = true
        // Node calls this once it has written an answer that closes the connection.
        socket.destroySoon = () => closeGently(socket, limits.lingerMs)
        outgoing.shouldKeepAlive = false
      }
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

  /** Called for every packet from the one on that the parser could not read. */
  function onUnparsed(error: ParserError, socket: Socket): void {
    const connection = connectionOf(socket)
    if (connection.isClosing || error.code === 'ECONNRESET' || !socket.writable) {
      if (!socket.writable) socket.destroy()
      return
    }
    connection.unparsed += error.rawPacket?.toString('latin1', error.bytesParsed ?? 0) ?? ''
    const status = statusForUnparsed(error, connection.unparsed)
    if (status !== null) refuse(socket, status)
  }

  function refuse(socket: Socket, status: Refusal): void {
    const connection = connectionOf(socket)
    const isAnswering = connection.unanswered > 0
    connection.isClosing = true
    // An answer sent now would be taken for that of the request before, which is still to come.
    if (isAnswering) return
    writeAndClose(socket, application.refuse(status), limits.lingerMs)
    application.observe({ kind: 'refused', status })
  }

  async function close(): Promise<void> {
    if (isDraining) return
    isDraining = true
    const closed = new Promise((resolve) => server.once('close', resolve))
    // Not the HTTP server's own close, which cuts idle connections on which a request may be under way.
    NetServer.prototype.close.call(server)
    await Promise.race([closed, delay(limits.drainGraceMs, null, { ref: false })])
    server.closeIdleConnections()
    await Promise.race([closed, delay(limits.drainMs, null, { ref: false })])
    server.closeAllConnections()
    await closed
    // Now only its timer is left.
    server.close()
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return { host: address.address, port: address.port, close }
}
