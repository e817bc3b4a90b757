import type { Response } from './message.ts'

/**
 * The sizes of the two buffers that all connections use in turn. A client that reads slowly keeps
 * the one with its answers, so the larger one is only for what exceeds the smaller one. A listing
 * of 100 servers usually does. Answers that exceed both get a buffer of their own.
 */
export const SMALL_BYTES = 16_384
export const LARGE_BYTES = 65_536

/**
 * Where answers are put together before they are written. Copying their bytes into one buffer costs
 * less than any object that would be made for each answer.
 */
export interface Outbox {
  /** Appends an answer. The last answer of a connection says that it is. */
  add(response: Response, isHead: boolean, isLast: boolean): void
  /** Takes the appended answers out. Their bytes are valid until the next `add`. */
  take(): Buffer
  /** Leaves the bytes that were taken last to their holder, for good. */
  leave(): void
}

const LENGTH_NAME = Buffer.from('Content-Length: ')
const LINE_END = Buffer.from('\r\n')
/** The longest line of a length: a safe integer has at most 16 digits. */
const LENGTH_BYTES_MAX = LENGTH_NAME.length + 16 + LINE_END.length

/** Renews the date once a second. `readClock` gives milliseconds since 1970. */
export function createOutbox(keepAliveMs: number, readClock: () => number = Date.now): Outbox {
  const seconds = Math.floor(keepAliveMs / 1_000)
  let second = Number.NaN
  let kept = Buffer.alloc(0)
  let closing = Buffer.alloc(0)
  let small = Buffer.allocUnsafeSlow(SMALL_BYTES)
  let large = Buffer.allocUnsafeSlow(LARGE_BYTES)
  let bytes = small
  let length = 0
  let taken = small

  function renewDate(now: number): void {
    second = now
    const date = `Date: ${new Date(now * 1_000).toUTCString()}\r\n`
    kept = Buffer.from(`${date}Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n`)
    closing = Buffer.from(`${date}Connection: close\r\n\r\n`)
  }

  function makeRoom(size: number): void {
    const needed = length + size
    if (needed <= bytes.length) return
    const larger = needed <= LARGE_BYTES ? large : Buffer.allocUnsafeSlow(2 * needed)
    bytes.copy(larger, 0, 0, length)
    bytes = larger
  }

  return {
    add({ head, body }, isHead, isLast) {
      const now = Math.floor(readClock() / 1_000)
      if (now !== second) renewDate(now)
      makeRoom(head.length + LENGTH_BYTES_MAX + kept.length + body.length)
      let end = append(bytes, length, head)
      // An answer without a body has no length (RFC 9110, 8.6).
      if (body.length > 0) end = appendLength(bytes, end, body.length)
      end = append(bytes, end, isLast ? closing : kept)
      length = isHead ? end : append(bytes, end, body)
    },

    take() {
      const answers = bytes.subarray(0, length)
      taken = bytes
      bytes = small
      length = 0
      return answers
    },

    leave() {
      if (taken === large) large = Buffer.allocUnsafeSlow(LARGE_BYTES)
      if (taken === small) small = Buffer.allocUnsafeSlow(SMALL_BYTES)
      bytes = small
    },
  }
}

/** Writes a part at `from`, and returns its end. */
function append(bytes: Buffer, from: number, part: Buffer): number {
  bytes.set(part, from)
  return from + part.length
}

function appendLength(bytes: Buffer, from: number, size: number): number {
  const digits = String(size)
  let end = append(bytes, from, LENGTH_NAME)
  for (let at = 0; at < digits.length; at += 1) bytes[end + at] = digits.charCodeAt(at)
  end += digits.length
  return append(bytes, end, LINE_END)
}
