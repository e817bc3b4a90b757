import type { DatabaseSync } from 'node:sqlite'
import { createKeyCache, KEY_PLACE_BYTES } from '../../claims/key-cache.ts'

/** What a claim needs to know about its key. */
export interface KeyRow {
  serial: number
  apiKeyId: string
  userId: string
  /** The key is revoked, or its owner is disabled. */
  isRefused: boolean
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

const KEY_ROWS_MAX = 131_072
/**
 * A longer id of an owner comes from a program that enforces no references. Such a row is not
 * cached, so that the bound holds.
 */
const ID_LENGTH_MAX = 36

/**
 * What the cache takes for each row at most, in bytes, by the sizes of V8's objects: its place, the
 * object, and two ids of two bytes per character.
 */
export const KEY_ROW_BYTES = KEY_PLACE_BYTES + 48 + 2 * (16 + 2 * ID_LENGTH_MAX)
/** The size of a full cache, in bytes. */
export const KEY_ROWS_BYTES_MAX = KEY_ROWS_MAX * KEY_ROW_BYTES

export function createKeyRows(
  database: DatabaseSync,
  rowsMax = KEY_ROWS_MAX,
  random: () => number = Math.random,
): KeyRows {
  const read = createReadKey(database)
  const cache = createKeyCache<KeyRow>(rowsMax, random)

  return {
    find(keyHash) {
      const cached = cache.get(keyHash)
      if (cached !== undefined) return cached
      const row = read(keyHash)
      if (row !== undefined && row.userId.length <= ID_LENGTH_MAX) cache.set(keyHash, row)
      return row
    },

    clear: cache.clear,
  }
}

function createReadKey(database: DatabaseSync): (keyHash: Uint8Array) => KeyRow | undefined {
  const findApiKey = database.prepare(
    `SELECT serial, id, user_id, revoked_at IS NOT NULL OR disabled_at IS NOT NULL
     FROM api_keys WHERE key_hash = ?`,
  )
  findApiKey.setReturnArrays(true)
  return (keyHash) => {
    const found = findApiKey.get(keyHash) as unknown as ApiKeyValues | undefined
    if (found === undefined) return undefined
    const [serial, apiKeyId, userId, isRefused] = found
    return { serial, apiKeyId, userId, isRefused: isRefused === 1 }
  }
}

type ApiKeyValues = [serial: number, id: string, userId: string, isRefused: number]
