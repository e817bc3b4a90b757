import { get } from 'node:http'
import { readAnswer } from '../model/text.ts'

/** How long the service may take to answer. */
const ANSWER_MS = 3_000

/** The body of `/readyz`, or why there is none. */
export interface Readiness {
  ready: boolean
  checks: Record<string, string>
  problem?: string
  /** True if a program took the connection and did not answer in time. */
  hangs?: boolean
}

/** Why the service is not ready. */
export function sentenceOf({ problem, checks }: Readiness): string {
  if (problem !== undefined) return problem
  return Object.entries(checks)
    .filter(([, check]) => check !== 'ok')
    .map(([name, check]) => `${name}: ${check}`)
    .join('; ')
}

/** Asks for `/readyz`. Never rejects. */
export async function askReadiness(url: string): Promise<Readiness> {
  let isConnected = false
  try {
    const body = JSON.parse(
      await read(url, () => (isConnected = true)),
    ) as Partial<Readiness> | null
    if (typeof body?.ready === 'boolean' && body.checks instanceof Object) return body as Readiness
    return unready(`what answers at ${url} is another program`)
  } catch (error) {
    if (error instanceof SyntaxError) return unready(`what answers at ${url} is another program`)
    const reason = whyUnanswered(error as NodeJS.ErrnoException, ANSWER_MS)
    if (isConnected && (error as Error).name === 'AbortError')
      return { ...unready(`what listens at ${url} hangs: ${reason}`), hangs: true }
    return unready(`no service answers at ${url} (${reason}): is it running with this OPS_PORT?`)
  }
}

/** Why a request that may take `answerMs` milliseconds has no answer. */
export function whyUnanswered(error: NodeJS.ErrnoException, answerMs: number): string {
  if (error.name === 'AbortError') return `no answer within ${answerMs / 1_000} s`
  return error.code ?? error.message
}

function unready(problem: string): Readiness {
  return { ready: false, checks: {}, problem }
}

function read(url: string, onConnect: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { agent: false, signal: AbortSignal.timeout(ANSWER_MS) }
    const request = get(url, options, (answer) => {
      void readAnswer(answer).then((body) => resolve(String(body)), reject)
    })
    request.once('socket', (socket) => socket.once('connect', onConnect))
    request.on('error', reject)
  })
}
