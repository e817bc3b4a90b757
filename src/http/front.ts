import type { Socket } from 'node:net'
import { endIfDone, enqueue, onDrain, settle, writeAnswers, writeSoon } from './answers.ts'
import { skip, VALUE } from './characters.ts'
import { type Connection, type Front, newConnection, stopReading } from './connection.ts'
import { type Head, readHead, skipEmptyLines } from './head.ts'
import { HEAD_BYTES_MAX } from './limits.ts'
import type { Refusal } from './message.ts'

/** Serves a socket, which must allow half-open connections. */
export function openConnection(front: Front, socket: Socket): void {
  const { connections, limits } = front
  const connection = newConnection(socket, limits)
  connections.add(connection)
  socket.on('data', (bytes) => onData(front, connection, bytes))
  socket.on('end', () => onEnd(front, connection))
  socket.on('drain', () => onDrain(connection))
  socket.on('finish', () => {
    // The system answers unread bytes with a reset, which can destroy the answer on its way.
    connection.lingerBy = performance.now() + limits.lingerMs
  })
  // The socket closes after an error.
  socket.on('error', () => {})
  socket.on('close', () => connections.delete(connection))
}

function onData(front: Front, connection: Connection, bytes: Buffer): void {
  if (!connection.isClosing) read(front, connection, bytes.toString('latin1'))
  noteInput(connection)
  writeAnswers(front, connection)
}

/**
 * Input counts against silence, except from a client that reads no answers, or that sends empty
 * lines between requests.
 */
function noteInput(connection: Connection): void {
  const isIdle = connection.rest === '' && connection.underWay === 0
  if (!connection.isBlocked && !isIdle) connection.isActive = true
}

function read(front: Front, connection: Connection, piece: string): void {
  const text = connection.rest + piece
  if (isWithinLine(connection, piece) && text.length < HEAD_BYTES_MAX) connection.rest = text
  else readRequests(front, connection, text)
}

/**
 * True if a piece of a head ends no line, so that it can't complete the head. Reading the beginning
 * anew for each of many small pieces would let one client take much time.
 */
function isWithinLine({ rest, endsWithCr }: Connection, piece: string): boolean {
  if (rest === '' || endsWithCr) return false
  return skip(VALUE, piece, 0, piece.length) === piece.length
}

function readRequests(front: Front, connection: Connection, text: string): void {
  let at = 0
  while (!connection.isClosing) {
    const head = readHead(text, at, front.limits)
    if (head === null) {
      keepRest(front, connection, text, skipEmptyLines(text, at))
      break
    }
    if (typeof head === 'number') {
      refuse(front, connection, head)
      break
    }
    at = head.end
    connection.headBy = Number.POSITIVE_INFINITY
    take(front, connection, head)
  }
}

function keepRest({ limits }: Front, connection: Connection, text: string, at: number): void {
  // A copy, because a slice would keep the whole text in memory.
  connection.rest = at === 0 ? text : Buffer.from(text.slice(at), 'latin1').toString('latin1')
  connection.endsWithCr = connection.rest.endsWith('\r')
  if (connection.rest !== '' && connection.headBy === Number.POSITIVE_INFINITY)
    connection.headBy = performance.now() + limits.headersMs
}

/** Hands a request to the application. */
function take(front: Front, connection: Connection, head: Head): void {
  const { application, limits } = front
  const exchange = enqueue(connection, head.method)
  const isOneTooMany = connection.underWay >= limits.pipelinedMax
  if (head.isLast || head.flaw !== null || isOneTooMany) stopReading(connection)
  const answer =
    head.flaw === null
      ? application.answer(head, exchange.startedAt)
      : application.refuse(head.flaw)
  if (answer instanceof Promise)
    void answer.then((response) => {
      settle(front, exchange, response)
      if (exchange === connection.first) writeSoon(front, connection)
    })
  else settle(front, exchange, answer)
}

/** Answers bytes that are no request, behind the answers that are still to come. */
function refuse(front: Front, connection: Connection, status: Refusal): void {
  const { application } = front
  stopReading(connection)
  enqueue(connection, '').response = application.refuse(status)
  application.observe({ kind: 'refused', status })
  writeAnswers(front, connection)
}

function onEnd(front: Front, connection: Connection): void {
  connection.hasEnded = true
  if (connection.rest === '') endIfDone(connection)
  else refuse(front, connection, 400)
}

/** Accepts no more requests, and closes after the answers to those before. */
export function closeAfterAnswers(connection: Connection): void {
  stopReading(connection)
  endIfDone(connection)
}

/** Ends a connection that has taken too long. */
export function checkTimes(front: Front, connection: Connection, now: number): void {
  const { keepAliveMs, silenceMs } = front.limits
  if (connection.isActive) connection.activeAt = now
  connection.isActive = false
  const isIdle = connection.underWay === 0 && connection.rest === '' && !connection.isClosing
  const silentBy = connection.activeAt + (isIdle ? keepAliveMs : silenceMs)
  if (now >= connection.headBy) refuse(front, connection, 408)
  else if (now >= Math.min(silentBy, connection.lingerBy)) connection.socket.destroy()
}
