import type { DatabaseSync } from 'node:sqlite'
import type { CountPlace } from '../../listing/use-counts.ts'

/** What a claim needs to know about its key. */
export interface KeyRow extends CountPlace {
  serial: number
  apiKeyId: string
  userId: string
  revokedAt: number | null
}

/**
 * The rows of recently used keys, so that a claim need not read the database for its key. A row is
 * valid for one version of the file. `clear` must run within the transaction that first sees
 * another version, before the first `find`.
 */
export interface KeyRows {
  /** The key's row; undefined if the key is unknown. Needs an open transaction. */
  find(keyHash: Uint8Array): KeyRow | undefined
  clear(): void
}

/**
 * Keys share a set of this many places by their hashes. Wider sets are filled more evenly: with
 * 100,000 keys in use, 1 % of the lookups miss. The tags of a set fill two cache lines.
 */
const WAYS = 32
const KEY_ROWS_MAX = 131_072
const HASH_BYTES = 32
/** Longer ids come from other programs. Their rows are not cached, so that the bound holds. */
const ID_LENGTH_MAX = 36

/**
 * What the cache takes for each row at most, in bytes, by the sizes of V8's objects: the tag, the
 * hash, a pointer, the object, and two ids of two bytes per character.
 */
export const KEY_ROW_BYTES = 4 + HASH_BYTES + 8 + 72 + 2 * (16 + 2 * ID_LENGTH_MAX)
/** The size of a full cache, in bytes. */
export const KEY_ROWS_BYTES_MAX = KEY_ROWS_MAX * KEY_ROW_BYTES

/** A bounded cache with random eviction within a set. `random` is a number below 1. */
export function createKeyRows(
  database: DatabaseSync,
  rowsMax = KEY_ROWS_MAX,
  random: () => number = Math.random,
): KeyRows {
  const read = createReadKey(database)
  const sets = rowsMax / WAYS
  /** The first four bytes of each hash, or 0 for a free place. */
  const tags = new Int32Array(rowsMax)
  const hashes = new Uint8Array(HASH_BYTES * rowsMax)
  const rows = Array.from<KeyRow>({ length: rowsMax })

  function isAt(place: number, keyHash: Uint8Array): boolean {
    const at = HASH_BYTES * place
    for (let index = 0; index < HASH_BYTES; index += 1)
      if (hashes[at + index] !== keyHash[index]) return false
    return true
  }

  function add(tag: number, first: number, keyHash: Uint8Array, row: KeyRow): void {
    const free = tags.indexOf(0, first)
    const isFree = free !== -1 && free < first + WAYS
    const place = isFree ? free : first + Math.floor(random() * WAYS)
    tags[place] = tag
    hashes.set(keyHash, HASH_BYTES * place)
    rows[place] = row
  }

  return {
    find(keyHash) {
      const tag = wordOf(keyHash, 0) | 1
      const first = WAYS * ((wordOf(keyHash, 4) >>> 0) % sets)
      for (let place = first; place < first + WAYS; place += 1)
        if (tags[place] === tag && isAt(place, keyHash)) return rows[place]
      const row = read(keyHash)
      if (row !== undefined && isBounded(row)) add(tag, first, keyHash, row)
      return row
    },

    clear: () => void tags.fill(0),
  }
}

function createReadKey(database: DatabaseSync): (keyHash: Uint8Array) => KeyRow | undefined {
  const findApiKey = database.prepare(
    'SELECT serial, id, user_id, revoked_at FROM api_keys WHERE key_hash = ?',
  )
  findApiKey.setReturnArrays(true)
  return (keyHash) => {
    const found = findApiKey.get(keyHash) as unknown as ApiKeyValues | undefined
    if (found === undefined) return undefined
    const [serial, apiKeyId, userId, revokedAt] = found
    return { serial, apiKeyId, userId, revokedAt, owner: null, number: 0 }
  }
}

type ApiKeyValues = [serial: number, id: string, userId: string, revokedAt: number | null]

function isBounded({ apiKeyId, userId }: KeyRow): boolean {
  return apiKeyId.length <= ID_LENGTH_MAX && userId.length <= ID_LENGTH_MAX
}

function wordOf(hash: Uint8Array, at: number): number {
  return (hash[at]! << 24) | (hash[at + 1]! << 16) | (hash[at + 2]! << 8) | hash[at + 3]!
}
