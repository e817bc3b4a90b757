import type { ListingAnswer } from './responses.ts'

/** A rendered listing and the revision of the owner's servers that it shows. */
export interface Listing {
  revision: string
  answer: ListingAnswer
}

/** Rendered listings, by the key that asked for them. Whether one may still be shown is for the store to say. */
export interface RememberedListings {
  recall(keyHash: string): Listing | null
  remember(keyHash: string, userId: string, listing: Listing): void
  /** What is held, in bytes, by estimate. */
  size(): number
}

/** What an owner's entry and each key that leads to it take beside the body, in bytes; measured, and rounded up. */
const OWNER_BYTES = 1_024
const KEY_BYTES = 192

interface Owner {
  userId: string
  listing: Listing
  keyHashes: string[]
  /** Where the owner stands in the list that the next one to forget is drawn from. */
  place: number
}

/**
 * Remembers within a bound. Owners who ask come round in no order worth predicting, so whom to forget is drawn by
 * lot: it costs nothing to maintain, and a crowd larger than the bound still finds a part of itself remembered.
 */
export function createRememberedListings(
  bytesMax: number,
  random: () => number = Math.random,
): RememberedListings {
  const byKey = new Map<string, Owner>()
  const byUser = new Map<string, Owner>()
  const owners: Owner[] = []
  let bytes = 0

  function add(userId: string, listing: Listing): Owner {
    const owner = { userId, listing, keyHashes: [], place: owners.length }
    owners.push(owner)
    byUser.set(userId, owner)
    bytes += sizeOf(owner)
    return owner
  }

  function forget(owner: Owner): void {
    bytes -= sizeOf(owner)
    byUser.delete(owner.userId)
    for (const keyHash of owner.keyHashes) byKey.delete(keyHash)
    const last = owners.pop()!
    if (last === owner) return
    last.place = owner.place
    owners[owner.place] = last
  }

  return {
    recall(keyHash) {
      return byKey.get(keyHash)?.listing ?? null
    },

    remember(keyHash, userId, listing) {
      const owner = byUser.get(userId) ?? add(userId, listing)
      bytes -= sizeOf(owner)
      owner.listing = listing
      if (byKey.get(keyHash) !== owner) {
        byKey.set(keyHash, owner)
        owner.keyHashes.push(keyHash)
      }
      bytes += sizeOf(owner)
      while (bytes > bytesMax) forget(owners[Math.floor(random() * owners.length)]!)
    },

    size: () => bytes,
  }
}

function sizeOf(owner: Owner): number {
  return OWNER_BYTES + owner.listing.answer.body.length + owner.keyHashes.length * KEY_BYTES
}
