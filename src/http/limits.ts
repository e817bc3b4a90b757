/** What one client may use. Times are in milliseconds, sizes in bytes. */
export interface Limits {
  /** The request target; a longer one is a 414. */
  targetBytesMax: number
  /** All header names and values of one request; more is a 431. */
  headerBytesMax: number
  /**
   * Header lines of one request; more is a 431. A short line takes far more memory than its bytes.
   */
  headerLinesMax: number
  /** From the connection, or a request's first byte, to the end of its headers; then a 408. */
  headersMs: number
  /** How often every connection is checked for the times below and above. */
  checkMs: number
  /** Between two requests on one connection. Proxies usually close their side earlier. */
  keepAliveMs: number
  /** Without a byte in either direction, in any state. */
  silenceMs: number
  /** Connections at a time. */
  connectionsMax: number
  /**
   * Which connection the listener closes when there are more: the new one, or the oldest one, so
   * that idle connections can't keep a new one out. It closes one with a request under way only if
   * all others have one, too.
   */
  closedBeyond: 'newest' | 'oldest'
  /**
   * Requests of one connection whose answers are not yet sent, for example because the client does
   * not read them. The request that reaches this number is the last one, and its answer closes the
   * connection.
   */
  pipelinedMax: number
  /**
   * How long a closed connection still discards input, so that a reset does not destroy the answer.
   */
  lingerMs: number
  /** During a shutdown: how long an idle connection may still deliver a request under way. */
  drainGraceMs: number
  /** During a shutdown: how long answers may take. */
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
  closedBeyond: 'newest',
  pipelinedMax: 16,
  lingerMs: 1_000,
  drainGraceMs: 500,
  drainMs: 8_000,
}

/**
 * The most bytes of a head that are read, with white space and line ends. It bounds the memory of a
 * connection. It is above the limits of LIMITS, which apply to whole heads.
 */
export const HEAD_BYTES_MAX = 32_768
