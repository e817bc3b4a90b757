import type { Request, Response } from '../http/message.ts'
import { createListServers, type ListServersContext } from './list-servers.ts'
import { createListingCache } from './listing-cache.ts'
import { healthy, notFound, preflight } from './responses.ts'

/** The size of all cached listings, in bytes. */
const LISTINGS_BYTES_MAX = 64 * 1024 * 1024

/** No answer of the API depends on the host. */
export type Answer = (
  request: Omit<Request, 'host'>,
  startedAt?: number,
) => Response | Promise<Response>

/** Routes a request (spec 4). Paths match byte for byte; anything else is not found. */
export function createAnswer(options: Omit<ListServersContext, 'listings'>): Answer {
  const listings = createListingCache(LISTINGS_BYTES_MAX)
  const listServers = createListServers({ ...options, listings })

  return (request, startedAt) => {
    const { method, path } = request
    if (method === 'OPTIONS') return preflight
    if (method === 'GET' && path === '/v1/servers') return listServers(request, startedAt)
    if (method === 'GET' && (path === '/health' || path === '/')) return healthy
    return notFound
  }
}
