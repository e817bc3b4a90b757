import type { HeldListing, HeldListings, Listing } from '../model/claim.ts'

/** Rendered listings, by owner. Only the store can say whether one is current. */
export interface ListingCache extends HeldListings {
  set(userId: string, listing: Listing): void
  /** An estimate of the memory held, in bytes. */
  size(): number
}

/**
 * Bodies are copied into blocks of this size. Memory of its own for each body would take a tenth
 * more, and leave gaps that the process never returns.
 */
export const BLOCK_BYTES = 256 * 1024
/** What an entry takes beside the body, in bytes, by the sizes of V8's objects. */
export const ENTRY_BYTES = 240

/** A listing in a block. A view of its body takes as much as the rest, so that none is kept. */
class Entry implements HeldListing {
  readonly userId: string
  readonly revision: string
  readonly block: Block
  readonly start: number
  readonly end: number

  constructor(userId: string, revision: string, block: Block, start: number, end: number) {
    this.userId = userId
    this.revision = revision
    this.block = block
    this.start = start
    this.end = end
  }

  get body(): Buffer {
    return this.block.bytes.subarray(this.start, this.end)
  }

  /** The same body under another revision. A claim under way returns the one that it compared. */
  renewed(revision: string): Entry {
    return new Entry(this.userId, revision, this.block, this.start, this.end)
  }
}

/** Bodies of several owners, one behind the other. A replaced body stays until the eviction. */
interface Block {
  bytes: Buffer
  used: number
  owners: string[]
}

/**
 * A bounded cache that evicts a random block. It costs nothing to maintain, and unlike LRU it still
 * hits when a cyclic working set exceeds the bound.
 */
export function createListingCache(
  bytesMax: number,
  random: () => number = Math.random,
): ListingCache {
  const byUser = new Map<string, Entry>()
  /** The last one is being filled. */
  const blocks: Block[] = []
  let bytes = 0

  function blockFor(size: number): Block {
    const last = blocks.at(-1)
    if (last !== undefined && last.used + size <= last.bytes.length) return last
    const room = Math.max(BLOCK_BYTES, size)
    // A block is filled once: an answer that is under way may use an evicted body.
    const block = { bytes: Buffer.allocUnsafeSlow(room), used: 0, owners: [] }
    blocks.push(block)
    bytes += room
    return block
  }

  /** The last block is being filled, so it is evicted only if it is alone. */
  function evict(): void {
    const index = Math.floor(random() * (blocks.length - 1))
    const evicted = blocks.splice(index, 1)[0]!
    bytes -= evicted.bytes.length + ENTRY_BYTES * evicted.owners.length
    for (const userId of evicted.owners)
      if (byUser.get(userId)?.block === evicted) byUser.delete(userId)
  }

  return {
    get(userId) {
      return byUser.get(userId) ?? null
    },

    set(userId, { revision, body }) {
      // An engine also reads a listing anew if it can't prove that the cached one is current.
      const known = byUser.get(userId)
      if (known?.body.equals(body)) {
        byUser.set(userId, known.renewed(revision))
        return
      }
      const block = blockFor(body.length)
      const end = block.used + body.length
      block.bytes.set(body, block.used)
      byUser.set(userId, new Entry(userId, revision, block, block.used, end))
      block.used = end
      block.owners.push(userId)
      bytes += ENTRY_BYTES
      while (bytes > bytesMax) evict()
    },

    size: () => bytes,
  }
}
