import { type Config, ownUrlOf } from '../config/config.ts'
import { ask, Unanswered } from './ask.ts'

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

/** Where the running service says whether it is ready. */
export function readinessUrl({ opsHost, opsPort }: Config): string {
  return `${ownUrlOf(opsHost, opsPort)}/readyz`
}

/** Asks for `/readyz`. Never rejects. */
export async function askReadiness(url: string): Promise<Readiness> {
  const unready = { ready: false, checks: {} }
  try {
    const body = JSON.parse((await ask(url, ANSWER_MS)).body) as Partial<Readiness> | null
    if (typeof body?.ready === 'boolean' && body.checks instanceof Object) return body as Readiness
  } catch (error) {
    if (error instanceof Unanswered) {
      const { message, hangs } = error
      if (hangs) return { ...unready, problem: `what listens at ${url} hangs: ${message}`, hangs }
      const problem = `no service answers at ${url} (${message}): is it running with this OPS_PORT?`
      return { ...unready, problem }
    }
  }
  return { ...unready, problem: `what answers at ${url} is another program` }
}
