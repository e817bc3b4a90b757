import type { Request, Response } from '../http/message.ts'
import { hashApiKey } from '../listing/api-key.ts'
import { ListFault, NotConfigured } from '../listing/faults.ts'
import { renderServers } from '../listing/server.ts'
import type { ServingStore, Use } from '../listing/store.ts'
import { readBearer } from './bearer.ts'
import type { Listing, RememberedListings } from './remembered-listings.ts'
import {
  authenticationFailed,
  listed,
  listFailed,
  notConfigured,
  rateLimited,
  revoked,
  unauthorized,
} from './responses.ts'

export interface ListServersContext {
  store: Pick<ServingStore, 'useApiKey'>
  listings: RememberedListings
  /** Told of every failure that an answer does not explain. */
  onFault(fault: unknown): void
}

/** GET /v1/servers. The steps and their order are those of spec 5.2; it never throws. */
export async function listServers(
  context: ListServersContext,
  request: Request,
): Promise<Response> {
  const { store, listings, onFault } = context

  const key = readBearer(request.authorization) // steps 1 and 2
  if (key === null) return unauthorized

  let remembered: Listing | null = null
  const recall = (userId: string) => {
    remembered = listings.recall(userId)
    return remembered?.revision ?? null
  }
  let use: Use
  try {
    use = await store.useApiKey(hashApiKey(key), recall) // steps 3 to 6
  } catch (fault) {
    onFault(fault)
    return answerToFault(fault)
  }

  if (use.outcome === 'unknown') return unauthorized
  if (use.outcome === 'revoked') return revoked(use.apiKeyId)
  if (use.outcome === 'too soon') return rateLimited(use.apiKeyId)

  try {
    const { userId, revision, rows } = use
    const listing = rows === null ? remembered! : { revision, body: renderServers(rows) }
    if (rows !== null) listings.remember(userId, listing)
    return listed(listing.body, use.apiKeyId)
  } catch (fault) {
    onFault(fault)
    return listFailed
  }
}

function answerToFault(fault: unknown): Response {
  if (fault instanceof NotConfigured) return notConfigured
  if (fault instanceof ListFault) return listFailed
  return authenticationFailed
}
