import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { readAnswer } from '../model/text.ts'

const DAY_MS = 86_400_000

export interface Answer {
  status: number
  body: string
  /** Until the certificate expires. Null without TLS. */
  daysLeft: number | null
}

/** There is no answer. The cause is the system's error. */
export class Unanswered extends Error {
  override name = 'Unanswered'
  /** True if a program took the connection and did not answer in time. */
  readonly hangs: boolean

  constructor(cause: NodeJS.ErrnoException, answerMs: number, isConnected: boolean) {
    const isLate = cause.name === 'AbortError'
    super(isLate ? `no answer within ${answerMs / 1_000} s` : (cause.code ?? cause.message), {
      cause,
    })
    this.hangs = isLate && isConnected
  }
}

/** Asks a program for a URL. Throws Unanswered. */
export async function ask(url: string, answerMs: number): Promise<Answer> {
  const { get } = await (url.startsWith('https:') ? import('node:https') : import('node:http'))
  let isConnected = false
  try {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { agent: false, signal: AbortSignal.timeout(answerMs) }
      const request = get(url, options, resolve).on('error', reject)
      request.once('socket', (socket) => socket.once('connect', () => (isConnected = true)))
    })
    const { getPeerCertificate } = incoming.socket as Partial<TLSSocket>
    const validTo = getPeerCertificate?.call(incoming.socket as TLSSocket).valid_to
    const daysLeft = validTo === undefined ? null : (Date.parse(validTo) - Date.now()) / DAY_MS
    return { status: incoming.statusCode ?? 0, body: String(await readAnswer(incoming)), daysLeft }
  } catch (error) {
    throw new Unanswered(error as NodeJS.ErrnoException, answerMs, isConnected)
  }
}
