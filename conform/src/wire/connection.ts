import { once } from 'node:events'
import { isIP, connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Interval } from '../interval.ts'
import { type Answer, readAnswer } from './answer.ts'
import type { Target } from './target.ts'

/** What the other side may use, so that a hostile server can't hold up a run. */
export interface AnswerLimits {
  /** How long a connection may take to open, and a whole answer to arrive, in milliseconds. */
  patienceMs: number
  /** The most bytes that are kept while an answer is not whole, or behind an answer. */
  bytesMax: number
}

/** A list of 100 servers has some hundred kilobytes at most. */
export const ANSWER_LIMITS: AnswerLimits = { patienceMs: 15_000, bytesMax: 4_194_304 }

/** The result of one request. */
export interface Exchange extends Interval {
  /** The bytes sent, as Latin-1. */
  sent: string
  answer: Answer | null
  /** Why there is no answer. */
  failure: string | null
  /** Bytes behind the answer that belong to no request. */
  surplus: string
}

/** A connection that sends exact bytes and reads answers by itself. */
export interface Connection {
  /** Sends requests in one piece. The exchanges are in their order. */
  ask(requests: readonly { text: string; isHead: boolean }[]): Promise<Exchange[]>
  /**
   * Sends bytes that may not be a request. After the first answer, waits until the other side ends
   * the connection or is silent for `quietMs`, but no longer than an answer may take.
   */
  probe(text: string, quietMs: number): Promise<Exchange>
  /** True if the other side has ended the connection. */
  isOver(): boolean
  close(): void
}

/** Microseconds of a clock that no program can set. */
export function now(): number {
  return performance.now() * 1_000
}

/** Rejects with the system's error if the connection does not open. */
export async function connect(target: Target, limits = ANSWER_LIMITS): Promise<Connection> {
  const { host, port } = target
  const socket = target.isTls
    ? connectTls({
        host,
        port,
        ALPNProtocols: ['http/1.1'],
        ...(isIP(host) === 0 ? { servername: host } : {}),
      })
    : connectTcp({ host, port })
  socket.setNoDelay(true)
  const input = createInput(socket, limits)
  await input.opened(target.isTls ? 'secureConnect' : 'connect')

  return {
    async ask(requests) {
      const t0 = now()
      socket.write(requests.map(({ text }) => text).join(''), 'latin1')
      const exchanges: Exchange[] = []
      for (const { text, isHead } of requests) {
        const read = await input.next(isHead)
        exchanges.push({ sent: text, t0, t1: now(), surplus: '', ...read })
      }
      const last = exchanges.at(-1)
      if (last !== undefined) last.surplus = input.rest()
      return exchanges
    },
    async probe(text, quietMs) {
      const t0 = now()
      socket.write(text, 'latin1')
      const read = await input.next(false)
      const t1 = now()
      await input.quiet(quietMs)
      return { sent: text, t0, t1, surplus: input.rest(), ...read }
    },
    isOver: input.isOver,
    close: () => void socket.destroy(),
  }
}

function createInput(socket: Socket, { patienceMs, bytesMax }: AnswerLimits) {
  let rest = ''
  let isTooLarge = false
  let ended: string | null = null
  let stirred = Promise.withResolvers<void>()
  const stir = () => {
    stirred.resolve()
    stirred = Promise.withResolvers<void>()
  }
  const end = (reason: string) => {
    ended ??= reason
    stir()
  }
  socket.on('data', (bytes: Buffer) => {
    rest += bytes.toString('latin1')
    isTooLarge = rest.length > bytesMax
    if (isTooLarge) socket.destroy()
    stir()
  })
  socket.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  for (const event of ['end', 'close'])
    socket.on(event, () => end('the connection was closed without an answer'))

  /** Resolves after the next event of the socket, or with true when `ms` have passed. */
  async function isSilent(ms: number): Promise<boolean> {
    if (ms <= 0) return true
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(true), ms)
    void stirred.promise.then(() => resolve(false))
    const isOver = await promise
    clearTimeout(timer)
    return isOver
  }

  return {
    rest: () => rest,
    isOver: () => ended !== null,
    async opened(event: string): Promise<void> {
      const signal = AbortSignal.timeout(patienceMs)
      // An error of the socket rejects, before its own listener notes it.
      await once(socket, event, { signal }).catch((error: NodeJS.ErrnoException) => {
        socket.destroy()
        const late = `no connection within ${patienceMs / 1_000} s`
        throw new Error(error.name === 'AbortError' ? late : (error.code ?? error.message))
      })
    },
    async next(isHead: boolean): Promise<Pick<Exchange, 'answer' | 'failure'>> {
      const deadline = performance.now() + patienceMs
      for (;;) {
        const read = readAnswer(rest, isHead, ended !== null && !isTooLarge)
        if (typeof read === 'object') {
          rest = rest.slice(read.end)
          return { answer: read.answer, failure: null }
        }
        if (isTooLarge) return { answer: null, failure: `no end within ${bytesMax} bytes` }
        if (read === 'no answer')
          return { answer: null, failure: rest === '' ? ended : `no HTTP answer: ${rest}` }
        if (await isSilent(deadline - performance.now()))
          return { answer: null, failure: `no whole answer within ${patienceMs / 1_000} s` }
      }
    },
    async quiet(ms: number): Promise<void> {
      const deadline = performance.now() + patienceMs
      for (;;) {
        const silenceMs = Math.min(ms, deadline - performance.now())
        if (ended !== null || (await isSilent(silenceMs))) return
      }
    },
  }
}
