import type { Refusal, Request, Response } from '../http/message.ts'
import { renderHead } from '../http/render.ts'
import { CONTENT_TYPE } from './exposition.ts'
import { type Check, OK } from './monitor.ts'

const JSON_HEADERS = [
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
]

/** The checks of readiness, by name. */
export type Checks = Record<string, Check>

/**
 * The operator's routes, for GET and HEAD. `/livez` is 200 while the event loop runs. `/readyz` is
 * 200 if every check is `ok`, and 503 otherwise; its body has each check in words.
 */
export function createOpsAnswer({
  isOwnHost,
  readChecks,
  renderMetrics,
}: {
  isOwnHost(host: string): boolean
  readChecks(): Checks
  /** The text of `/metrics`. */
  renderMetrics(): string
}): (request: Request) => Response {
  return ({ method, path, host }) => {
    if (!isOwnHost(host)) return misdirected
    if (method !== 'GET' && method !== 'HEAD') return notFound
    if (path === '/livez') return alive
    if (path === '/readyz') return readiness(readChecks())
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

function readiness(checks: Checks): Response {
  const ready = Object.values(checks).every((check) => check === OK)
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
