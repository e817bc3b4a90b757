import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Response } from './message.ts'

/** What the front knows of one connection, so that each request on it gets one answer and no other. */
export interface Connection {
  socket: Socket
  /** Requests that were taken and whose answers have not left yet. */
  underWay: number
  /** Hears of each answer that has left. */
  onFinish(): void
  /** What the last of them is answered with. */
  last: ServerResponse | null
  /** Set once no other request will be taken: whatever else arrives is discarded. */
  isClosing: boolean
  /** The start of something that is no request, while its line is incomplete. */
  unparsed: string
}

export function newConnection(socket: Socket): Connection {
  const connection: Connection = {
    socket,
    underWay: 0,
    onFinish() {
      connection.underWay -= 1
    },
    last: null,
    isClosing: false,
    unparsed: '',
  }
  return connection
}

/**
 * Takes no more requests on this connection. Of what else is in the packet Node's parser would still make one request
 * after the other, thousands of them. It asks a function of its own, which no document tells of, what to do with each;
 * 2 stands for an upgrade, and makes it leave the rest of the packet alone. Should that change one day, discarding
 * costs more again, and that is all.
 */
export function expectNoMore(connection: Connection): void {
  connection.isClosing = true
  const { parser } = connection.socket as { parser?: { onIncoming: unknown } | null }
  if (!parser) return
  parser.onIncoming = (message: { upgrade: boolean }) => {
    // No such thing, though: Node would let go of the connection, and of the answers that are to come.
    message.upgrade = false
    return 2
  }
}

/**
 * Takes no more requests, and calls back once every answer has left, so that what is written then cannot overtake
 * one. Does not call back where the last answer is still to come: that one ends the connection itself.
 */
export function takeNoMore(connection: Connection, afterAnswers: () => void): void {
  if (connection.isClosing) return
  expectNoMore(connection)
  const { last } = connection
  if (last === null || last.writableFinished) afterAnswers()
  else if (last.writableEnded) last.once('finish', afterAnswers)
}

/** Writes an answer where there is no request to hang it on, and closes. */
export function writeAndClose(socket: Socket, response: Response, lingerMs: number): void {
  const { status, headers, body } = response
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`]
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`)
  lines.push(`Date: ${new Date().toUTCString()}`, 'Connection: close', '', body)
  socket.write(lines.join('\r\n'), 'latin1')
  closeGently(socket, lingerMs)
}

/**
 * Closes the connection after what was written to it, but goes on discarding what arrives for a while: closing with
 * unread bytes makes the system send a reset, and a reset can destroy the answer before the client has read it.
 */
export function closeGently(socket: Socket, lingerMs: number): void {
  if (socket.destroyed) return
  socket.end()
  // The parser is to see no more: it would make requests and errors of what is discarded.
  socket.removeAllListeners('data')
  socket.on('data', () => {})
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref()
  socket.once('close', () => clearTimeout(timer))
}
