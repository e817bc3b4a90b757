import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { readBearer } from '../../../src/api/list-servers.ts'
import { authenticationFailed, healthy, refusal, unauthorized } from '../../../src/api/responses.ts'
import { LIMITS } from '../../../src/http/limits.ts'
import { type Listener, listen } from '../../../src/http/listen.ts'
import type { Request, Response } from '../../../src/http/message.ts'
import { renderHead } from '../../../src/http/render.ts'
import { hashApiKey } from '../../../src/model/key-hash.ts'
import { type Answer, ask } from '../../fixtures/requests.ts'
import type { DirectoryCopy } from './directory.ts'

/** A service answers within 2.5 s, unless its process stands still. */
const FORWARD_MAX_MS = 3_000

/** A router in front of several clusters. It passes each request on to the cluster of its key. */
export function startRouter(
  copy: DirectoryCopy,
  clusters: number,
  /** The port of the service on a cluster; null if it does not listen. */
  portOf: (cluster: number) => number | null,
): Promise<Listener> {
  const agent = new Agent({ keepAlive: true })

  async function answer({ path, authorization }: Request): Promise<Response> {
    if (path === '/health') return healthy
    const key = readBearer(authorization)
    if (key === null) return unauthorized
    const keyHash = hashApiKey(key)
    const found = copy.find(keyHash)
    // Any cluster can say that it does not know a key.
    if (found === undefined) return forward(1 + (keyHash[0]! % clusters), key)
    if (found === null || found.place === null) return authenticationFailed
    const { owner, place } = found
    return copy.whileUnderWay(owner, () => forward(place, key))
  }

  async function forward(cluster: number, key: string): Promise<Response> {
    const port = portOf(cluster)
    if (port === null) return authenticationFailed
    const answered = ask(port, { key, agent }).then(passOn, () => authenticationFailed)
    return Promise.race([answered, delay(FORWARD_MAX_MS, authenticationFailed, { ref: false })])
  }

  const application = { answer, refuse: refusal, observe: () => {} }
  return listen(application, '127.0.0.1', 0, { ...LIMITS, lingerMs: 100, drainGraceMs: 50 })
}

/** Fields of the service's front, which the router's own front adds, too. */
const OF_FRONT = new Set(['connection', 'content-length', 'date', 'keep-alive'])

function passOn({ status, headers, body }: Answer): Response {
  const fields = Object.entries(headers).filter(([name]) => !OF_FRONT.has(name))
  return {
    status,
    head: renderHead(
      status,
      fields.flatMap(([name, value]) => [name, String(value)]),
    ),
    body: Buffer.from(body),
    route: '',
    apiKeyId: null,
  }
}
