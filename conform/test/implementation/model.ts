import { setTimeout as delay } from 'node:timers/promises'

/*
 * The API of the specification once more, in memory and without any code of the service, with one
 * planted mistake or none.
 */

/** A mistake that an implementation can make. */
export type Mistake =
  | '401 without a charset'
  | '404 without CORS headers'
  | '404 as a page'
  | '429 with Retry-After: 2'
  | '429 with the sentence of a 404'
  | '429 without its limit'
  | 'a 404 spends the second'
  | 'a 502 now and then'
  | 'a 429 begins the second again'
  | 'a ninth field'
  | 'a number as version'
  | 'a query filters'
  | 'a revoked key gets 403'
  | 'a revoked key is cached for 5 s'
  | 'a validator gets 304'
  | 'an id that is no UUID'
  | 'an odd field gets 500'
  | 'an own text for unknown keys'
  | 'another method gets 405'
  | 'HEAD gets 200'
  | 'keys in the query'
  | 'one limit for all keys'
  | 'preflights get 200'
  | 'spaces are trimmed'
  | 'the health needs a key'
  | 'the health is limited'
  | 'the interval is 0.9 s'
  | 'the interval is 1.3 s'
  | 'the limit comes first'
  | 'the limit is read before it is written'
  | 'the scheme is case-sensitive'
  | '101 servers'

export interface ModelRequest {
  method: string
  /** With the query. */
  url: string
  /** The value of a field, by lowercase name. */
  field(name: string): string | undefined
}

export interface ModelAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

export interface Model {
  keys: [string, string]
  answer(request: ModelRequest): Promise<ModelAnswer>
  /** The answer to bytes that the framework can't read. */
  refuse(status: 400 | 404 | 431): ModelAnswer
  revoke(key: string): void
}

const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type',
  'Access-Control-Max-Age': '86400',
}

const SERVER = {
  id: '0c1c2b7e-6f0d-4d51-8a0d-0f1c7c2f9a11',
  name: 'Survival',
  slug: null,
  address: 'play.example.com',
  edition: 'java',
  status: 'published',
  version: null,
  listing_kind: 'server',
}

const CACHED_MS = 5_000
const LISTS_TO_FAILURE = 10

export function createModel(mistake: Mistake | null): Model {
  const has = (one: Mistake) => mistake === one
  const keys: Model['keys'] = [`svc_live_${'a1'.repeat(32)}`, `svc_live_${'b2'.repeat(32)}`]
  const revoked = new Map<string, number>()
  const lastUses = new Map<string, number>()
  const { json, unauthorized, notFound, limited } = createAnswers(has)
  let lists = 0
  const interval = has('the interval is 0.9 s') ? 900 : has('the interval is 1.3 s') ? 1_300 : 1_000

  /** False within the second of the last use. */
  async function take(name: string): Promise<boolean> {
    const now = performance.now()
    const last = lastUses.get(name) ?? -Infinity
    if (has('the limit is read before it is written')) await delay(4)
    const isOver = now - last >= interval
    if (isOver || has('a 429 begins the second again')) lastUses.set(name, now)
    return isOver
  }

  async function list(request: ModelRequest): Promise<ModelAnswer> {
    const key = keyOf(request, has)
    if (has('an odd field gets 500') && request.field('x-odd') !== undefined)
      return json(500, { error: 'Internal error.' })
    if (has('the limit comes first') && !(await take('everyone'))) return limited()
    if (key === null || !keys.includes(key))
      return has('an own text for unknown keys') && key !== null
        ? json(401, { error: 'Unknown API key.' })
        : unauthorized()
    const since = performance.now() - (revoked.get(key) ?? Infinity)
    if (since >= (has('a revoked key is cached for 5 s') ? CACHED_MS : 0))
      return has('a revoked key gets 403') ? json(403, { error: 'Revoked.' }) : unauthorized()
    if (has('a validator gets 304') && request.field('if-none-match') !== undefined)
      return json(304, {})
    lists += 1
    if (has('a 502 now and then') && lists % LISTS_TO_FAILURE === 0)
      return json(502, { error: 'Failed to load servers.' })
    const name = has('one limit for all keys') ? 'everyone' : key
    if (!has('the limit comes first') && !(await take(name))) return limited()
    return json(200, { servers: serversFor(request, has) })
  }

  async function health(request: ModelRequest): Promise<ModelAnswer> {
    if (has('the health needs a key') && keyOf(request, has) === null) return unauthorized()
    if (has('the health is limited') && !(await take('health'))) return limited()
    return json(200, { ok: true })
  }

  async function answer(request: ModelRequest): Promise<ModelAnswer> {
    const { method, url } = request
    const [path = ''] = url.split('?')
    const isHead = method === 'HEAD' && has('HEAD gets 200')
    if (method === 'OPTIONS')
      return { status: has('preflights get 200') ? 200 : 204, headers: CORS, body: '' }
    if ((method === 'GET' || isHead) && (path === '/health' || path === '/')) return health(request)
    if (isHead && path === '/v1/servers') return json(200, { servers: [] })
    if (method === 'GET' && path === '/v1/servers') return list(request)
    if (has('a 404 spends the second')) await take(keyOf(request, has) ?? '')
    if (has('another method gets 405') && path === '/v1/servers') return json(405, { error: 'No.' })
    return notFound()
  }

  return {
    keys,
    answer,
    refuse: (status) => (status === 404 ? notFound() : json(status, { error: 'Bad request.' })),
    revoke: (key) => void revoked.set(key, performance.now()),
  }
}

type Has = (mistake: Mistake) => boolean

function createAnswers(has: Has) {
  function json(status: number, value: object, headers: Record<string, string> = {}): ModelAnswer {
    const isBare = has('401 without a charset') && status === 401
    const type = `application/json${isBare ? '' : '; charset=utf-8'}`
    const cors = has('404 without CORS headers') && status === 404 ? {} : CORS
    return {
      status,
      headers: { 'Content-Type': type, ...cors, ...headers },
      body: JSON.stringify(value),
    }
  }

  const unauthorized = () => json(401, { error: 'Invalid or missing API key.' })

  function notFound(): ModelAnswer {
    const answer = json(404, { error: 'Not found.' })
    return has('404 as a page') ? { ...answer, body: '<h1>Not found</h1>' } : answer
  }

  function limited(): ModelAnswer {
    const error = has('429 with the sentence of a 404') ? 'Not found.' : 'Rate limit exceeded'
    const body = has('429 without its limit') ? { error } : { error, limit: '1 rps' }
    return json(429, body, { 'Retry-After': has('429 with Retry-After: 2') ? '2' : '1' })
  }

  return { json, unauthorized, notFound, limited }
}

function serversFor({ url }: ModelRequest, has: Has): object[] {
  if (has('a query filters') && url.includes('status=draft')) return []
  if (has('101 servers')) return Array.from({ length: 101 }, () => SERVER)
  if (has('a ninth field')) return [{ ...SERVER, host_label: 'x' }]
  if (has('a number as version')) return [{ ...SERVER, version: 1.21 }]
  return has('an id that is no UUID') ? [{ ...SERVER, id: '7' }] : [SERVER]
}

function keyOf({ url, field }: ModelRequest, has: Has): string | null {
  const inQuery = /[?&]api_key=([^&]*)/.exec(url)?.[1]
  if (has('keys in the query') && inQuery !== undefined) return inQuery
  const value = field('authorization') ?? ''
  const scheme = has('the scheme is case-sensitive') ? /^Bearer (\S+)$/ : /^bearer (\S+)$/i
  return (has('spaces are trimmed') ? /^bearer\s+(\S+)\s*$/i : scheme).exec(value)?.[1] ?? null
}
