/** Rows of recently used keys, by the key's hash, in bounded memory. */
export interface KeyCache<Row> {
  get(keyHash: Uint8Array): Row | undefined
  /** Adds or replaces the row of a key. It may evict that of another key. */
  set(keyHash: Uint8Array, row: Row): void
  clear(): void
}

/**
 * Keys share a set of this many places by their hashes. Wider sets are filled more evenly: if keys
 * fill three quarters of the cache, 1 % of the lookups miss. The tags of a set fill two cache
 * lines.
 */
const WAYS = 32
const HASH_BYTES = 32

/** What a place takes beside its row, in bytes: the tag, the hash and a pointer. */
export const KEY_PLACE_BYTES = 4 + HASH_BYTES + 8

/**
 * A cache with random eviction within a set. A map would take an object for each hash. `rowsMax` is
 * a multiple of 32. `random` is a number below 1.
 */
export function createKeyCache<Row>(
  rowsMax: number,
  random: () => number = Math.random,
): KeyCache<Row> {
  const sets = rowsMax / WAYS
  /** The first four bytes of each hash, or 0 for a free place. */
  const tags = new Int32Array(rowsMax)
  const hashes = new Uint8Array(HASH_BYTES * rowsMax)
  const rows = Array.from<Row>({ length: rowsMax })

  function isAt(place: number, keyHash: Uint8Array): boolean {
    const at = HASH_BYTES * place
    for (let index = 0; index < HASH_BYTES; index += 1)
      if (hashes[at + index] !== keyHash[index]) return false
    return true
  }

  function firstPlaceOf(keyHash: Uint8Array): number {
    return WAYS * ((wordOf(keyHash, 4) >>> 0) % sets)
  }

  /** The place of the key within its set; -1 if it has none. */
  function placeOf(keyHash: Uint8Array): number {
    const tag = tagOf(keyHash)
    const first = firstPlaceOf(keyHash)
    for (let place = first; place < first + WAYS; place += 1)
      if (tags[place] === tag && isAt(place, keyHash)) return place
    return -1
  }

  /** A free place of the set if there is one, and a random one otherwise. */
  function newPlaceOf(keyHash: Uint8Array): number {
    const first = firstPlaceOf(keyHash)
    for (let place = first; place < first + WAYS; place += 1) if (tags[place] === 0) return place
    return first + Math.floor(random() * WAYS)
  }

  return {
    get(keyHash) {
      const place = placeOf(keyHash)
      return place === -1 ? undefined : rows[place]
    },

    set(keyHash, row) {
      const known = placeOf(keyHash)
      const place = known === -1 ? newPlaceOf(keyHash) : known
      tags[place] = tagOf(keyHash)
      hashes.set(keyHash, HASH_BYTES * place)
      rows[place] = row
    },

    clear: () => void tags.fill(0),
  }
}

/** Never 0, which stands for a free place. */
function tagOf(hash: Uint8Array): number {
  return wordOf(hash, 0) | 1
}

/** Four bytes of a hash as a number. */
export function wordOf(hash: Uint8Array, at: number): number {
  return (hash[at]! << 24) | (hash[at + 1]! << 16) | (hash[at + 2]! << 8) | hash[at + 3]!
}
