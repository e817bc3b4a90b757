/** What one client may take of the service. Times are in milliseconds, sizes in bytes. */
export interface Limits {
  /** The request target; longer ones are 414. */
  targetBytesMax: number
  /** All header names and values of one request; more are 431. */
  headerBytesMax: number
  /** Header lines of one request; more are 431. A line takes more memory than its few bytes. */
  headerLinesMax: number
  /** From the connection, or the first byte of a request, to the end of its headers; then 408. */
  headersMs: number
  /** How often `headersMs` is checked. */
  checkMs: number
  /** Between two requests on one connection. Longer than the usual proxy keeps its own side. */
  keepAliveMs: number
  /** Without a byte in either direction, whatever the state. */
  silenceMs: number
  /** Connections at a time; what comes on top is closed at once. */
  connectionsMax: number
  /**
   * Requests of one connection whose answers have not left, because they are not given yet or the client does not
   * read them. The one that makes up the number is the last that is taken: its answer closes the connection.
   */
  pipelinedMax: number
  /** How long a closed connection is still listened to, so that the answer is not lost to a reset. */
  lingerMs: number
  /** When shutting down: how long idle connections may still send a request that was already under way. */
  drainGraceMs: number
  /** When shutting down: how long answers may take. */
  drainMs: number
}

export const LIMITS: Limits = {
  targetBytesMax: 8_192,
  headerBytesMax: 8_192,
  headerLinesMax: 1_024,
  headersMs: 10_000,
  checkMs: 1_000,
  keepAliveMs: 75_000,
  silenceMs: 30_000,
  connectionsMax: 10_000,
  pipelinedMax: 16,
  lingerMs: 1_000,
  drainGraceMs: 500,
  drainMs: 8_000,
}

/**
 * Where the parser itself stops reading a request's head. Above our own limits, so that these are applied to whole
 * heads, whichever way they were cut into packets; and what bounds the memory of a connection.
 */
export const PARSER_HEAD_BYTES_MAX = 32_768
