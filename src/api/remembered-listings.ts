/** An owner's rendered listing, as bytes, and the revision of the owner's servers that it shows. */
export interface Listing {
  revision: string
  body: Buffer
}

/** Rendered listings, by owner. Whether one may still be shown is for the store to say. */
export interface RememberedListings {
  recall(userId: string): Listing | null
  remember(userId: string, listing: Listing): void
  /** What is held, in bytes, by estimate. */
  size(): number
}

/** What an owner's entry takes beside the body, in bytes, by the sizes of V8's objects. */
const OWNER_BYTES = 640

interface Owner {
  userId: string
  listing: Listing
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
  const byUser = new Map<string, Owner>()
  const owners: Owner[] = []
  let bytes = 0

  function add(userId: string, listing: Listing): void {
    const owner = { userId, listing, place: owners.length }
    owners.push(owner)
    byUser.set(userId, owner)
    bytes += sizeOf(listing)
  }

  function forget(owner: Owner): void {
    bytes -= sizeOf(owner.listing)
    byUser.delete(owner.userId)
    const last = owners.pop()!
    if (last === owner) return
    last.place = owner.place
    owners[owner.place] = last
  }

  return {
    recall(userId) {
      return byUser.get(userId)?.listing ?? null
    },

    remember(userId, listing) {
      const before = byUser.get(userId)
      if (before !== undefined) forget(before)
      add(userId, listing)
      while (bytes > bytesMax) forget(owners[Math.floor(random() * owners.length)]!)
    },

    size: () => bytes,
  }
}

function sizeOf({ body }: Listing): number {
  return OWNER_BYTES + body.length
}
