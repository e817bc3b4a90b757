import pg, { type ClientBase } from 'pg'
import type { Call, Outcome } from '../../claims/call.ts'
import type { HeldListing, HeldListings } from '../../model/claim.ts'
import { AuthenticationFault, ListFault } from '../../model/faults.ts'
import type { ServerRow } from '../../model/server-row.ts'
import { frozen } from '../refusals.ts'
import { byteaArray, uuidArray } from './binary-arrays.ts'
import {
  CLAIM,
  CLAMP,
  CLASSIFY,
  type ClaimedRow,
  type ClassifiedRow,
  EPOCH,
  type ListedServer,
  NO_REVISION,
} from './claim-statements.ts'
import type { KnownKey, KnownKeys } from './known-keys.ts'

/** A batch, and what is known about each call: its key, and the owner's listing. */
interface Asked {
  calls: readonly Call[]
  known: readonly (KnownKey | undefined)[]
  held: readonly (HeldListing | null)[]
}

/** Spec 5.2, steps 3 to 6, for one batch in one statement. Throws the statement's error. */
export async function claimBatch(
  client: ClientBase,
  keys: KnownKeys,
  calls: readonly Call[],
): Promise<Outcome[]> {
  const known = calls.map(({ keyHash }) => keys.of(keyHash))
  const held = calls.map(({ listings }, at) => heldFor(known[at], listings))
  const { rows } = await client.query({
    name: 'claim-api-keys',
    text: CLAIM,
    values: [
      byteaArray(calls.map(({ keyHash }) => keyHash)),
      uuidArray(known.map((key) => key?.apiKeyId ?? null)),
      uuidArray(held.map((listing) => listing?.revision ?? null)),
    ],
    rowMode: 'array',
  })
  const read = readOutcomes(keys, { calls, known, held }, rows as unknown as ClaimedRow[])
  await renew(client, read)
  return read.outcomes
}

function heldFor(key: KnownKey | undefined, listings: HeldListings): HeldListing | null {
  if (key === undefined) return null
  const listing = listings.get(key.userId)
  // The keys of an owner share one string. A copy for each takes megabytes.
  if (listing !== null) key.userId = listing.userId
  return listing
}

interface Read {
  outcomes: Outcome[]
  /** The indexes of calls whose key has a stamp from the future, by key id. */
  ahead: Map<string, number>
  isHeldOff: boolean
}

const UNKNOWN: Outcome = { outcome: 'unknown' }

function readOutcomes(
  keys: KnownKeys,
  { calls, known, held }: Asked,
  rows: readonly ClaimedRow[],
): Read {
  const outcomes: Outcome[] = calls.map(() => UNKNOWN)
  const ahead = new Map<string, number>()
  let isHeldOff = false
  for (const row of rows) {
    if (row[0] === 'held') {
      for (const n of numbersIn(row[5]))
        outcomes[n - 1] = grantedAsHeld(known[n - 1]!, held[n - 1]!)
      continue
    }
    const [verdict, n, apiKeyId, userId, revision, servers] = row
    switch (verdict) {
      case 'granted':
        keys.learn(calls[n - 1]!.keyHash, apiKeyId, userId)
        outcomes[n - 1] = {
          outcome: verdict,
          apiKeyId,
          userId,
          revision: revision ?? NO_REVISION,
          rows: (JSON.parse(servers) as ListedServer[]).map(toRow),
        }
        break
      case 'held off':
        isHeldOff = true
        outcomes[n - 1] = new AuthenticationFault(
          'held off for one second: granted claims may have been lost in a crash',
        )
        break
      case 'ahead':
        ahead.set(apiKeyId, n - 1)
        outcomes[n - 1] = { outcome: 'busy', apiKeyId }
        break
      default:
        outcomes[n - 1] = { outcome: verdict, apiKeyId }
    }
  }
  return { outcomes, ahead, isHeldOff }
}

function numbersIn(list: string | null): number[] {
  return list === null ? [] : list.split(',').map(Number)
}

function grantedAsHeld(key: KnownKey, held: HeldListing): Outcome {
  const { apiKeyId, userId } = key
  const { revision } = held
  return { outcome: 'granted', apiKeyId, userId, revision, rows: null, held }
}

/**
 * Clamps instants from the future. If it fails the next batch tries again: the claims of this one
 * are committed, and their outcomes stand.
 */
async function renew(client: ClientBase, { outcomes, ahead, isHeldOff }: Read): Promise<void> {
  try {
    if (isHeldOff) await client.query(EPOCH)
    if (ahead.size === 0) return
    const { rows } = await client.query<{ id: string }>(CLAMP, [[...ahead.keys()]])
    for (const { id } of rows) outcomes[ahead.get(id)!] = { outcome: 'limited', apiKeyId: id }
  } catch {}
}

/**
 * Finds out after a failed `claimBatch` if the keys or the servers could not be read. The batch has
 * changed nothing, as far as is known. Never throws.
 */
export async function classifyAfterFailure(
  client: ClientBase,
  calls: readonly Call[],
  cause: unknown,
): Promise<Outcome[]> {
  try {
    // Without an answer from the server there is no point in asking it. A frozen database has all
    // keys and servers, and can't record a claim.
    if (!(cause instanceof pg.DatabaseError) || frozen(cause) !== null) throw cause
    const hashes = calls.map(({ keyHash }) => keyHash)
    const { rows } = await client.query({ text: CLASSIFY, values: [hashes], rowMode: 'array' })
    const outcomes: Outcome[] = hashes.map(() => ({ outcome: 'unknown' }))
    for (const [n, apiKeyId, isRevoked, isLimited] of rows as unknown as ClassifiedRow[]) {
      if (isRevoked) outcomes[n - 1] = { outcome: 'revoked', apiKeyId }
      else if (isLimited) outcomes[n - 1] = { outcome: 'limited', apiKeyId }
      else outcomes[n - 1] = new ListFault('the servers could not be read', { cause })
    }
    return outcomes
  } catch {
    const fault = new AuthenticationFault(
      frozen(cause)?.message ?? 'keys could not be looked up or claims could not be recorded',
      { cause },
    )
    return calls.map(() => fault)
  }
}

function toRow(server: ListedServer): ServerRow {
  const [id, name, slug, host_label, edition, status, version, listing_kind] = server
  return { id, name, slug, host_label, edition, status, version, listing_kind }
}
