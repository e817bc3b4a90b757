import type { Request, Response } from '../http/message.ts'
import { type ListServersContext, listServers } from './list-servers.ts'
import { createRememberedListings } from './remembered-listings.ts'
import { healthy, notFound, preflight } from './responses.ts'

/** Rendered listings are kept up to this size, in bytes. */
const LISTINGS_BYTES_MAX = 64 * 1024 * 1024

export type Answer = (request: Request) => Response | Promise<Response>

/** Which request gets which answer (spec 4). Paths match byte for byte; whatever is not named here is not found. */
export function createAnswer(options: Omit<ListServersContext, 'listings'>): Answer {
  const context = { ...options, listings: createRememberedListings(LISTINGS_BYTES_MAX) }

  return (request) => {
    const { method, path } = request
    if (method === 'OPTIONS') return preflight
    if (method === 'GET' && path === '/v1/servers') return listServers(context, request)
    if (method === 'GET' && (path === '/health' || path === '/')) return healthy
    return notFound
  }
}
