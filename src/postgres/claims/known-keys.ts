/** What a claim on a key returned before. Neither value of a stored key changes. */
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
  learn(keyHash: Uint8Array, key: KnownKey): void
}

/** The maximum of known keys, at about 200 bytes each. */
const KEYS_MAX = 500_000

export function createKnownKeys(keysMax = KEYS_MAX): KnownKeys {
  const known = new Map<number, KnownKey>()
  return {
    of: (keyHash) => known.get(shortOf(keyHash)),
    learn(keyHash, key) {
      // Evict the oldest one.
      if (known.size >= keysMax) known.delete(known.keys().next().value!)
      known.set(shortOf(keyHash), key)
    },
  }
}

/** The first 48 bits as a number. It takes a third of the memory of the whole hash in a map. */
function shortOf({ buffer, byteOffset, byteLength }: Uint8Array): number {
  return Buffer.from(buffer, byteOffset, byteLength).readUIntBE(0, 6)
}
