import type { Refusal, Request, Response } from '../http/message.ts'
import { renderHead } from '../http/render.ts'
import type { Finding } from '../model/health/finding.ts'
import { CONTENT_TYPE } from './exposition.ts'

const JSON_HEADERS = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
]

/**
 * The operator's routes, for GET and HEAD. `/livez` is 200 while the event loop runs. `/readyz` is
 * 200 if every finding is `ok`, and 503 otherwise; its body has each check in words.
 */
export function createOpsAnswer({
  isOwnHost,
  readFindings,
  renderMetrics,
}: {
  isOwnHost(host: string): boolean
  /** What decides readiness. */
  readFindings(): Finding[]
  /** The text of `/metrics`. */
  renderMetrics(): string
}): (request: Request) => Response {
  return ({ method, path, host }) => {
    if (!isOwnHost(host)) return misdirected
    if (method !== 'GET' && method !== 'HEAD') return notFound
    if (path === '/livez') return alive
    if (path === '/readyz') return readiness(readFindings())
    if (path === '/metrics') return metrics(renderMetrics())
    return notFound
  }
}

/** For bytes that are no HTTP request. */
export function refusal(status: Refusal): Response {
  return status === 404 ? notFound : json(status, { error: 'The request is not valid.' })
}

const alive = json(200, { live: true })

const misdirected = json(421, {
  error:
    'On a loopback address, this listener answers only for IP addresses, localhost and OPS_HOST.',
})

const notFound = json(404, { error: 'Not found. There are /livez, /readyz and /metrics.' })

function readiness(findings: readonly Finding[]): Response {
  const ready = findings.every(({ state }) => state === 'ok')
  const checks = Object.fromEntries(
    findings.map(({ check, state, found }) => [check, state === 'ok' ? state : found]),
  )
  return json(ready ? 200 : 503, { ready, checks })
}

function metrics(text: string): Response {
  const headers = ['Content-Type', CONTENT_TYPE, 'Cache-Control', 'no-store']
  const head = renderHead(200, headers)
  return { status: 200, head, body: Buffer.from(text), route: 'ops', apiKeyId: null }
}

function json(status: number, value: object): Response {
  const body = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
  return { status, head: renderHead(status, JSON_HEADERS), body, route: 'ops', apiKeyId: null }
}
