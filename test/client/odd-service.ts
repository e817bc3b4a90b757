import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import {
  type Clock,
  ServerListingClient,
  type ServerListingClientOptions,
} from '../../client/src/index.ts'
import { TIMEOUT_MS } from './fake-time.ts'
import { once } from '../fixtures/within.ts'

/** A server that answers what the real service never does. Returns its base URL. */
export async function startOddService(
  t: Pick<TestContext, 'after'>,
  listener: RequestListener,
): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A client that tries once, in the time of this clock. */
export function clientOf(
  baseUrl: string,
  clock: Clock,
  options: Partial<ServerListingClientOptions> = {},
): ServerListingClient {
  const fixed = { baseUrl, apiKey: KEY, clock, timeoutMs: TIMEOUT_MS, maxTries: 1 }
  return new ServerListingClient({ ...fixed, ...options })
}

export const KEY = `svc_live_${'0123456789abcdef'.repeat(4)}`

export const SERVER = {
  id: '0c1c2b7e-6f0d-4d51-8a0d-0f1c7c2f9a11',
  name: 'Survival',
  slug: null,
  address: 'play.example.com',
  edition: 'java',
  status: 'published',
  version: null,
  listing_kind: null,
}
