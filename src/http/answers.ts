import { performance } from 'node:perf_hooks'
import { type Connection, type Exchange, type Front, NOTHING, stopReading } from './connection.ts'
import type { Response } from './message.ts'

/** Adds a request whose answer is to come. */
export function enqueue(connection: Connection, method: string): Exchange {
  const exchange = { method, startedAt: performance.now(), response: null, next: null }
  if (connection.first === null) connection.first = exchange
  else connection.last!.next = exchange
  connection.last = exchange
  connection.underWay += 1
  return exchange
}

/** Stores an answer until it is its turn. */
export function settle({ application }: Front, exchange: Exchange, response: Response): void {
  /* node:coverage ignore next */
  if (exchange.response !== null) throw new Error('a request got a second answer')
  exchange.response = response
  application.observe({
    kind: 'answered',
    method: exchange.method,
    route: response.route,
    status: response.status,
    milliseconds: performance.now() - exchange.startedAt,
    apiKeyId: response.apiKeyId,
  })
}

/** Writes together with other answers of the same batch if more requests wait. */
export function writeSoon(front: Front, connection: Connection): void {
  if (connection.first === connection.last) writeAnswers(front, connection)
  else process.nextTick(writeAnswers, front, connection)
}

/** Writes the answers that are ready and whose turn it is. */
export function writeAnswers(front: Front, connection: Connection): void {
  let exchange = connection.first
  while (exchange !== null && exchange.response !== null) {
    const isLast = exchange.next === null && (connection.isClosing || front.isDraining)
    if (isLast) stopReading(connection)
    front.outbox.add(exchange.response, exchange.method === 'HEAD', isLast)
    connection.written += 1
    exchange = exchange.next
  }
  const hasMore = exchange !== connection.first
  connection.first = exchange
  if (exchange === null) connection.last = null
  if (hasMore) send(front, connection)
  else endIfDone(connection)
}

/** The most bytes of one write. A client that reads slowly shows its progress after each. */
const WRITE_BYTES_MAX = 65_536

/** Writes what is in the outbox, behind what the client has not read yet. */
function send({ outbox }: Front, connection: Connection): void {
  const { socket, unsent } = connection
  const added = outbox.take()
  const isSlow = unsent.length > 0 || socket.writableLength > 0
  connection.unsent = isSlow ? Buffer.concat([unsent, added]) : added
  writeUnsent(connection)
  if (!isSlow && (connection.unsent.length > 0 || socket.writableLength > 0)) outbox.leave()
}

function writeUnsent(connection: Connection): void {
  const { socket } = connection
  while (connection.unsent.length > 0 && !connection.isBlocked && !socket.destroyed) {
    const { unsent } = connection
    const isWhole = unsent.length <= WRITE_BYTES_MAX
    const piece = isWhole ? unsent : unsent.subarray(0, WRITE_BYTES_MAX)
    connection.unsent = isWhole ? NOTHING : unsent.subarray(WRITE_BYTES_MAX)
    connection.isBlocked = !socket.write(piece)
    connection.isActive = true
  }
  if (connection.unsent.length === 0 && !connection.isBlocked) {
    connection.underWay -= connection.written
    /* node:coverage ignore next */
    if (connection.underWay < 0) throw new Error('a connection has more answers than requests')
    connection.written = 0
  }
  endIfDone(connection)
}

/** Continues when the socket has sent what it held. */
export function onDrain(connection: Connection): void {
  connection.isBlocked = false
  connection.isActive = true
  writeUnsent(connection)
}

/** Closes the connection's own side after its last answer. */
export function endIfDone({ socket, first, unsent, isClosing, hasEnded }: Connection): void {
  if ((isClosing || hasEnded) && first === null && unsent.length === 0) socket.end()
}
