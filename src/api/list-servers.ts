import { FIXED_PREFIX } from '../model/key-format.ts'
import type { Request, Response } from '../http/message.ts'
import { hashApiKey } from '../model/key-hash.ts'
import type { Claim, ClaimStore, KnownClaim } from '../model/claim.ts'
import { ListFault, NotConfigured, invariant } from '../model/faults.ts'
import { renderServers, SERVERS_MAX } from '../model/server-row.ts'
import type { ListingCache } from './listing-cache.ts'
import {
  authenticationFailed,
  listed,
  listFailed,
  notConfigured,
  rateLimited,
  revoked,
  unauthorized,
  withRequestId,
} from './responses.ts'

export interface ListServersContext {
  store: ClaimStore
  listings: ListingCache
  /** Counts the claims for the usage charts. By default nothing does. */
  count?: ((claim: KnownClaim) => void) | undefined
  /**
   * Gets every failure that an answer does not explain. Returns the id that leads to it in the log,
   * if there is one.
   */
  onFault(fault: unknown): string | undefined
}

/** GET /v1/servers. The steps and their order are those of spec 5.2; it never throws. */
export function createListServers(
  context: ListServersContext,
): (request: Pick<Request, 'authorization'>, startedAt?: number) => Response | Promise<Response> {
  const { store, listings, count, onFault } = context

  // One pair of functions for all requests: an async function would be an object for each.
  function onClaim(claim: Claim): Response {
    if (claim.outcome === 'unknown') return unauthorized
    try {
      const answer = answerTo(claim, listings)
      count?.(claim)
      return answer
    } catch (fault) {
      return withRequestId(listFailed, onFault(fault))
    }
  }

  function onClaimFault(fault: unknown): Response {
    return withRequestId(answerToFault(fault), onFault(fault))
  }

  return ({ authorization }, startedAt) => {
    const key = readBearer(authorization) // steps 1 and 2
    if (key === null) return unauthorized
    // steps 3 to 6
    return store.claim(hashApiKey(key), listings, startedAt).then(onClaim, onClaimFault)
  }
}

function answerTo(claim: KnownClaim, listings: ListingCache): Response {
  if (claim.outcome === 'revoked') return revoked(claim.apiKeyId)
  if (claim.outcome === 'limited') return rateLimited(claim.apiKeyId)
  if (claim.rows === null) return listed(claim.held.body, claim.apiKeyId)
  invariant(claim.rows.length <= SERVERS_MAX, 'a list has at most 100 servers')
  const body = renderServers(claim.rows)
  listings.set(claim.userId, { revision: claim.revision, body })
  return listed(body, claim.apiKeyId)
}

function answerToFault(fault: unknown): Response {
  if (fault instanceof NotConfigured) return notConfigured
  if (fault instanceof ListFault) return listFailed
  return authenticationFailed
}

/**
 * The scheme in any case, exactly one space, and a key with the fixed prefix (spec 5.1, 5.2 steps 1
 * and 2). A key has no white space and nothing beyond ASCII, so padding of any kind is refused
 * here. The parser trims nothing. HTTP itself removes white space around the whole header value
 * (RFC 9110, 5.5).
 */
const BEARER_KEY = new RegExp(`^[Bb][Ee][Aa][Rr][Ee][Rr] (${FIXED_PREFIX}[!-~]*)$`)

/** Returns the key, or null if the value has no key with the fixed prefix. */
export function readBearer(authorization: string | null): string | null {
  return BEARER_KEY.exec(authorization ?? '')?.[1] ?? null
}
