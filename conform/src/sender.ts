import type { Pace } from './pace.ts'
import { type Request, write } from './request.ts'
import {
  ANSWER_LIMITS,
  type AnswerLimits,
  type Connection,
  connect,
  type Exchange,
  now,
} from './wire/connection.ts'
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

/** How long a run waits for the other side in all, and for each answer after that. */
const RUN_PATIENCE_MS = 300_000
const LAST_PATIENCE_MS = 1_000

export function createSender(target: Target, pace: Pace, runPatienceMs = RUN_PATIENCE_MS): Sender {
  let sent = 0
  const { waitFor, limits } = createPatience(runPatienceMs)

  async function sendTogether(requests: readonly Request[]): Promise<Exchange[]> {
    let opened = await waitFor(openFresh(requests.length))
    await take(requests.length)
    if (opened.some(isOver)) opened = await waitFor(openFresh(requests.length))
    const exchanges = requests.map((request, index) => ask(opened[index]!, [request]))
    return (await waitFor(Promise.all(exchanges))).flat()
  }

  async function sendInPiece(requests: readonly Request[], kept?: Opened): Promise<Exchange[]> {
    const connection = kept ?? (await waitFor(open()))
    await take(requests.length)
    return waitFor(ask(connection, requests, kept !== undefined))
  }

  async function ask(
    connection: Opened,
    requests: readonly Request[],
    isKept = false,
  ): Promise<Exchange[]> {
    const written = requests.map((request) => write(target, request))
    if ('failure' in connection) return written.map(({ text }) => unsent(text, connection.failure))
    const exchanges = await connection.ask(written)
    if (!isKept) connection.close()
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
    return connect(target, limits()).catch((error: Error) => ({ failure: error.message }))
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
      const connection = await waitFor(open())
      await take(1)
      if ('failure' in connection) return unsent(text, connection.failure)
      const exchange = await waitFor(connection.probe(text, QUIET_MS))
      connection.close()
      return exchange
    },
    open,
  }
}

function createPatience(totalMs: number) {
  let leftMs = totalMs
  return {
    /** Takes the time of the work from the patience. */
    async waitFor<T>(work: Promise<T>): Promise<T> {
      const begun = performance.now()
      try {
        return await work
      } finally {
        leftMs -= performance.now() - begun
      }
    },
    limits(): AnswerLimits {
      const patienceMs = Math.max(LAST_PATIENCE_MS, Math.min(leftMs, ANSWER_LIMITS.patienceMs))
      return { ...ANSWER_LIMITS, patienceMs }
    },
  }
}

function isOver(opened: Opened): boolean {
  return 'isOver' in opened && opened.isOver()
}

function unsent(sent: string, failure: string): Exchange {
  const t0 = now()
  return { t0, t1: t0, sent, answer: null, failure, surplus: '' }
}
