import type { Request, Response } from '../http/message.ts'
import { hashApiKey } from '../listing/api-key.ts'
import { ListFault, NotConfigured } from '../listing/faults.ts'
import { renderServers } from '../listing/server.ts'
import type { ServingStore, Use } from '../listing/store.ts'
import { readBearer } from './bearer.ts'
import type { RememberedListings } from './remembered-listings.ts'
import {
  authenticationFailed,
  listed,
  listFailed,
  listingAnswer,
  notConfigured,
  rateLimited,
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

  let keyId: string
  let remembered: ReturnType<RememberedListings['recall']>
  let use: Use
  try {
    const keyHash = hashApiKey(key)
    keyId = keyHash.toString('latin1')
    remembered = listings.recall(keyId)
    use = await store.useApiKey(keyHash, remembered?.revision ?? null) // steps 3 to 6
  } catch (fault) {
    onFault(fault)
    return answerToFault(fault)
  }

  if (use.outcome === 'unknown' || use.outcome === 'revoked') return unauthorized
  if (use.outcome === 'too soon') return rateLimited(use.apiKeyId)

  try {
    if (use.rows === null) return listed(remembered!.answer, use.apiKeyId)
    const answer = listingAnswer(renderServers(use.rows))
    listings.remember(keyId, use.userId, { revision: use.revision, answer })
    return listed(answer, use.apiKeyId)
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
