import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Response } from './message.ts'

/** What the front knows of one connection, so that each request on it gets one answer and no other. */
export interface Connection {
  /** Requests that were taken and not answered yet. */
  unanswered: number
  /** Set once the last answer on this connection is decided: whatever else arrives is discarded. */
  isClosing: boolean
  /** The start of something that is no request, while its line is incomplete. */
  unparsed: string
}

const connections = new WeakMap<Socket, Connection>()

export function connectionOf(socket: Socket): Connection {
  let connection = connections.get(socket)
  if (connection === undefined) {
    connection = { unanswered: 0, isClosing: false, unparsed: '' }
    connections.set(socket, connection)
  }
  return connection
}

/**
 * Closes the connection after what was written to it, but goes on discarding what arrives for a while: closing with
 * unread bytes makes the system send a reset, and a reset can destroy the answer before the client has read it.
 */
export function closeGently(socket: Socket, lingerMs: number): void {
  if (socket.destroyed) return
  // A reset while lingering is nobody's concern; without a listener it would end the process.
  socket.on('error', () => {})
  socket.end()
  socket.resume()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/** Writes an answer where there is no request to hang it on, and closes. */
export function writeAndClose(socket: Socket, response: Response, lingerMs: number): void {
  const { status, headers, body } = response
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`]
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`)
  lines.push(`Date: ${new Date().toUTCString()}`, 'Connection: close', '', body)
  socket.write(lines.join('\r\n'), 'latin1')
  closeGently(socket, lingerMs)
}
