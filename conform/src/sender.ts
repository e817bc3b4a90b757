import type { Pace } from './pace.ts'
import { type Request, write } from './request.ts'
import { type Connection, connect, type Exchange, now } from './wire/connection.ts'
import type { Target } from './wire/target.ts'

/** A connection, or why there is none. */
export type Opened = Connection | { failure: string }

/** Sends requests at the pace of the run. A request that can't be sent has no answer. */
export interface Sender {
  /** The requests sent so far. */
  sent(): number
  /** One request on a connection of its own. */
  send(request: Request): Promise<Exchange>
  /** Requests at the same moment, each on a connection of its own. */
  sendTogether(requests: readonly Request[]): Promise<Exchange[]>
  /** Requests in one piece on one connection. */
  sendInPiece(requests: readonly Request[], connection?: Opened): Promise<Exchange[]>
  /** Bytes that may not be a request. */
  probe(text: string): Promise<Exchange>
  /** A failure is the result of the requests, so that one lost connection does not end the run. */
  open(): Promise<Opened>
}

/** How long a second answer may take after the first one. */
const QUIET_MS = 500

/** How long connections for requests at the same moment may take to open. */
const OPEN_MS = 3_000
const OPEN_TRIES = 5

export function createSender(target: Target, pace: Pace): Sender {
  let sent = 0

  async function sendTogether(requests: readonly Request[]): Promise<Exchange[]> {
    let opened = await openFresh(requests.length)
    await take(requests.length)
    if (opened.some(isOver)) opened = await openFresh(requests.length)
    const exchanges = await Promise.all(
      requests.map(async (request, index) => {
        const connection = opened[index]!
        if ('failure' in connection) return unsent(write(target, request).text, connection.failure)
        const [exchange] = await connection.ask([write(target, request)])
        connection.close()
        return exchange!
      }),
    )
    return exchanges
  }

  async function sendInPiece(requests: readonly Request[], kept?: Opened): Promise<Exchange[]> {
    const connection = kept ?? (await open())
    await take(requests.length)
    const written = requests.map((request) => write(target, request))
    if ('failure' in connection) return written.map(({ text }) => unsent(text, connection.failure))
    const exchanges = await connection.ask(written)
    if (kept === undefined) connection.close()
    return exchanges
  }

  /**
   * Opens connections for requests at the same moment. A proxy closes a connection on which no
   * request begins, so connections that took too long to open are replaced.
   */
  async function openFresh(count: number): Promise<Opened[]> {
    for (let tries = 1; ; tries += 1) {
      const begun = performance.now()
      const opened = await Promise.all(Array.from({ length: count }, open))
      const isLate = performance.now() - begun > OPEN_MS || opened.some(isOver)
      if (!isLate || tries === OPEN_TRIES) return opened
      for (const each of opened) if ('close' in each) each.close()
    }
  }

  async function open(): Promise<Opened> {
    return connect(target).catch((error: Error) => ({ failure: error.message }))
  }

  async function take(count: number): Promise<void> {
    await pace.take(count)
    sent += count
  }

  return {
    sent: () => sent,
    send: async (request) => (await sendTogether([request]))[0]!,
    sendTogether,
    sendInPiece,
    async probe(text) {
      const connection = await open()
      await take(1)
      if ('failure' in connection) return unsent(text, connection.failure)
      const exchange = await connection.probe(text, QUIET_MS)
      connection.close()
      return exchange
    },
    open,
  }
}

function isOver(opened: Opened): boolean {
  return 'isOver' in opened && opened.isOver()
}

function unsent(sent: string, failure: string): Exchange {
  const t0 = now()
  return { t0, t1: t0, sent, answer: null, failure, surplus: '' }
}
