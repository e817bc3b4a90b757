import type { Socket } from 'node:net'
import type { Limits } from './limits.ts'
import type { Application, Response } from './message.ts'
import type { Outbox } from './outbox.ts'

/** The state that all connections of one listener share. */
export interface Front {
  application: Application
  limits: Limits
  outbox: Outbox
  /** The open connections. */
  connections: Set<Connection>
  /** Set at the start of a shutdown: each connection closes after its current answers. */
  isDraining: boolean
}

/** A request and its answer. */
export interface Exchange {
  method: string
  startedAt: number
  response: Response | null
  next: Exchange | null
}

export const NOTHING: Buffer = Buffer.alloc(0)

/**
 * A connection reads requests, answers them in order, and closes. It never reads a body. Each
 * request gets exactly one answer.
 */
export type Connection = ReturnType<typeof newConnection>

export function newConnection(socket: Socket, { headersMs }: Limits) {
  const now = performance.now()
  return {
    socket,
    /** Input that is not a whole head yet. */
    rest: '',
    /** Whether the rest ends with a CR. Asking the text itself would copy it for each piece. */
    endsWithCr: false,
    /** The first and the last request whose answers are not written yet. */
    first: null as Exchange | null,
    last: null as Exchange | null,
    /** Requests whose answers are not fully sent. */
    underWay: 0,
    /** Those of them whose answers are in `unsent` or in the socket. */
    written: 0,
    /** Answers that the socket does not take yet. */
    unsent: NOTHING,
    /** True while the socket holds too many bytes that the client does not read. */
    isBlocked: false,
    /** Set when the connection accepts no more requests. It discards the rest of the input. */
    isClosing: false,
    /** Set when the client has closed its sending side. */
    hasEnded: false,
    /** True if bytes moved since the last check. */
    isActive: false,
    /** The last check that found the connection active. */
    activeAt: now,
    /** When the head under way must be complete. Infinity without one. */
    headBy: now + headersMs,
    /** When to stop discarding input. Infinity before the last answer is sent. */
    lingerBy: Number.POSITIVE_INFINITY,
  }
}

/** Accepts no more requests. */
export function stopReading(connection: Connection): void {
  connection.isClosing = true
  connection.rest = ''
  connection.headBy = Number.POSITIVE_INFINITY
}
