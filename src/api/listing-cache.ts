import type { HeldListings, Listing } from '../listing/claim.ts'

/** Rendered listings, by owner. Only the store can say whether one is current. */
export interface ListingCache extends HeldListings {
  set(userId: string, listing: Listing): void
  /** An estimate of the memory held, in bytes. */
  size(): number
}

/** What an entry takes beside the body, in bytes, by the sizes of V8's objects. */
const ENTRY_BYTES = 640

interface Entry extends Listing {
  userId: string
  /** Index in `entries`, from which random eviction picks. */
  index: number
}

/**
 * A bounded cache with random eviction. It costs nothing to maintain, and unlike LRU it still hits
 * when a cyclic working set exceeds the bound.
 */
export function createListingCache(
  bytesMax: number,
  random: () => number = Math.random,
): ListingCache {
  const byUser = new Map<string, Entry>()
  const entries: Entry[] = []
  let bytes = 0

  function add(userId: string, { revision, body }: Listing): void {
    const entry = { userId, revision, body, index: entries.length }
    entries.push(entry)
    byUser.set(userId, entry)
    bytes += sizeOf(entry)
  }

  function evict(entry: Entry): void {
    bytes -= sizeOf(entry)
    byUser.delete(entry.userId)
    const last = entries.pop()!
    if (last === entry) return
    last.index = entry.index
    entries[entry.index] = last
  }

  return {
    get(userId) {
      return byUser.get(userId) ?? null
    },

    set(userId, listing) {
      const before = byUser.get(userId)
      if (before !== undefined) evict(before)
      add(userId, listing)
      while (bytes > bytesMax) evict(entries[Math.floor(random() * entries.length)]!)
    },

    size: () => bytes,
  }
}

function sizeOf({ body }: Listing): number {
  return ENTRY_BYTES + body.length
}
