import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { NotConfigured } from '../model/faults.ts'
import type { Instant } from '../model/instant.ts'
import type { Handler } from '../web/listen.ts'
import { createTokenBuckets } from '../web/request/token-bucket.ts'
import { readBody } from '../web/request/upload.ts'
import { actsRoute } from './acts.ts'
import {
  type Answer,
  NOT_CONFIGURED,
  NOT_FOUND,
  refuse,
  send,
  UNAUTHORIZED,
  UNAVAILABLE,
} from './answers.ts'
import type { Management, Route } from './call.ts'
import { descriptionRoute } from './description.ts'
import { eventRoutes } from './events.ts'
import { type Tokens, UnusableTokens } from './tokens.ts'
import { userRoutes } from './users.ts'

const ROUTES: readonly Route[] = [actsRoute, ...userRoutes, ...eventRoutes, descriptionRoute]

export interface ManagementOptions extends Omit<Management, 'database'> {
  /** Null without a usable database. */
  database: Management['database'] | null
  tokens: Tokens
  now(): Instant
  /** Returns the id that leads to the fault in the log, if there is one. */
  onFault(fault: unknown): string | undefined
}

/**
 * Answers the requests of the operator's site. Each token is throttled by itself, and its requests
 * run one at a time. A request has no effect before its whole body is here.
 */
export function createManagement(options: ManagementOptions): Handler {
  const { database, now, onFault, tokens } = options
  const buckets = createTokenBuckets(now)

  async function answer(incoming: IncomingMessage): Promise<Answer | null> {
    const name = nameOf(incoming)
    if (name === null) return UNAUTHORIZED
    const found = findRoute(incoming)
    if (!('route' in found)) return found
    const read = await readJson(incoming).catch(() => null)
    if (read === null || 'status' in read) return read
    if (database === null) return NOT_CONFIGURED
    const admission = await buckets.admit(name, 'act')
    if (admission === null) return TOO_MANY
    try {
      // The client may have hung up, and an operator may have removed the token.
      if (incoming.socket.destroyed) return null
      if (nameOf(incoming) !== name) return UNAUTHORIZED
      const actor = { address: `token ${name}`, at: now() }
      return await found.route.answer({ ...options, database }, { ...found, ...read, actor })
    } finally {
      admission.end()
    }
  }

  function nameOf({ headersDistinct: { authorization = [] } }: IncomingMessage): string | null {
    return authorization.length === 1 ? tokens.nameOf(authorization[0]!) : null
  }

  function explain(fault: unknown): Answer {
    if (fault instanceof UnusableTokens) return TOKENS_UNUSABLE
    const answered = fault instanceof NotConfigured ? NOT_CONFIGURED : UNAVAILABLE
    const id = onFault(fault)
    const named = id === undefined ? {} : { 'X-Request-Id': id }
    return { ...answered, headers: { ...answered.headers, ...named } }
  }

  return async (incoming, outgoing) => {
    const given = await answer(incoming).catch(explain)
    if (given === null) outgoing.destroy()
    else send(outgoing, given)
  }
}

const TOO_MANY = refuse(
  429,
  'Too many requests of this token wait already. Send fewer at a time, and this one again.',
  { 'Retry-After': '1' },
)

const TOKENS_UNUSABLE = refuse(
  503,
  'The tokens of this service are not configured. Its log says what is wrong.',
)

interface Found {
  route: Route
  parameters: string[]
  query: URLSearchParams
}

/** Paths match byte for byte, so that a dot or a slash can be part of an external id. */
function findRoute({ method, url = '' }: IncomingMessage): Found | Answer {
  const [path = '', ...queries] = url.split('?')
  for (const route of ROUTES) {
    const match = route.method === method ? route.path.exec(path) : null
    if (match === null) continue
    const query = new URLSearchParams(queries.join('?'))
    const known = route.query ?? []
    if (
      [...query.keys()].some(
        (name, index, all) => !known.includes(name) || all.indexOf(name) < index,
      )
    )
      return refuse(400, `The query may have ${known.join(' and ') || 'nothing'}, once each.`)
    try {
      return { route, query, parameters: match.slice(1).map(decodeURIComponent) }
    } catch {
      return refuse(400, 'The path must be percent-encoded UTF-8.')
    }
  }
  return NOT_FOUND
}

/** The body of a POST, or the answer that refuses it. Rejects if the client hangs up. */
async function readJson(incoming: IncomingMessage): Promise<{ body: unknown } | Answer> {
  const { method, headers } = incoming
  if (method !== 'POST') return { body: undefined }
  const bytes = await readBody(incoming)
  if (bytes === null)
    return refuse(413, 'A body can have up to 1,000,000 bytes. Send several documents.', {
      Connection: 'close',
    })
  if (bytes.length === 0) return { body: undefined }
  if (!/^application\/json(;\s*charset="?utf-8"?)?$/i.test(headers['content-type'] ?? ''))
    return refuse(415, 'The Content-Type must be application/json.')
  try {
    return isUtf8(bytes) ? { body: JSON.parse(bytes.toString()) } : NOT_JSON
  } catch {
    return NOT_JSON
  }
}

const NOT_JSON = refuse(400, 'The body is not JSON in UTF-8.')
