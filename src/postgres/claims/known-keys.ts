import { createKeyCache } from '../../claims/key-cache.ts'

/** What a claim on a key returned before. */
export interface KnownKey {
  apiKeyId: string
  userId: string
}

/**
 * The recently used keys, so that a claim can name the cached listing of the key's owner. The
 * statement confirms the id of the key and the revision of the listing. A mistake here therefore
 * only costs reading the list.
 */
export interface KnownKeys {
  of(keyHash: Uint8Array): KnownKey | undefined
  /** Keeps what a claim returned. */
  learn(keyHash: Uint8Array, apiKeyId: string, userId: string): void
}

/** The maximum of known keys, at about 220 bytes each. */
const KEYS_MAX = 524_288

export function createKnownKeys(keysMax = KEYS_MAX): KnownKeys {
  const known = createKeyCache<KnownKey>(keysMax)
  return {
    of: known.get,

    learn(keyHash, apiKeyId, userId) {
      const key = known.get(keyHash)
      // A restore can bring a key back under another id. A batch under way keeps the one it had.
      if (key?.apiKeyId !== apiKeyId || key.userId !== userId)
        known.set(keyHash, { apiKeyId, userId })
    },
  }
}
