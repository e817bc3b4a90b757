import type { ServerRow } from './server-row.ts'

/** The minimum time between two granted claims of one key (spec 8.1). */
export const CLAIM_INTERVAL_US = 1_000_000

/** The data plane: what the public API asks of a store. */
export interface ClaimStore {
  /**
   * Steps 3 to 6 of spec 5.2 as one transaction: look the key up, refuse it if it is revoked, apply
   * the limit, read the list, record the claim.
   *
   * - Exactly one of several concurrent calls with one key is granted, in any number of processes.
   *   Two granted claims of a key are at least one second apart. The second counts from the record
   *   of the first to the request of the next.
   * - A claim is granted only after its record was committed. No other outcome and no fault records
   *   anything.
   * - The store decides by what is committed when the transaction begins. It uses a cached row only
   *   if the transaction proves that it is current.
   *
   * `listings` holds the caller's cached listings. The store says in the same transaction whether
   * one is current. `since` is when the request arrived, by `performance.now()`; by default, now.
   * A claim that waits too long from then on fails. Throws AuthenticationFault, ListFault or
   * NotConfigured.
   */
  claim(keyHash: Uint8Array, listings: HeldListings, since?: number): Promise<Claim>
}

/** The outcome of one request with a key. */
export type Claim = { outcome: 'unknown' } | KnownClaim

export type KnownClaim =
  | (KnownKey & { outcome: 'revoked' })
  | (KnownKey & { outcome: 'limited' })
  | Granted

interface KnownKey {
  apiKeyId: string
}

export type Granted = KnownKey & {
  outcome: 'granted'
  userId: string
  revision: string
} & (
    | {
        /** The owner's personal servers, newest first, at most SERVERS_MAX. */
        rows: ServerRow[]
      }
    | {
        rows: null
        /** The listing that the caller held, because it is current. */
        held: Listing
      }
  )

/** A rendered listing, and the revision of the owner's servers that it shows. */
export interface Listing {
  revision: string
  body: Buffer
}

/** Rendered listings, by owner. */
export interface HeldListings {
  get(userId: string): HeldListing | null
}

/** A listing with its owner. Rows in memory that name the same owner can share this string. */
export interface HeldListing extends Listing {
  userId: string
}
