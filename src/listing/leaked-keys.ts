import { type ApiKey, type ApiKeyStore, hashApiKey } from './api-key.ts'
import { FIXED_PREFIX, KEY_BODY_LENGTH } from './key-format.ts'
import type { Instant } from './instant.ts'

// Matches upper case too, because such a copy reveals the key as well.
const KEY = new RegExp(`${FIXED_PREFIX}[0-9a-f]{${KEY_BODY_LENGTH}}`, 'gi')
/** Keys per statement. A form has fewer keys, so it revokes all of them in one transaction. */
const LOOKED_UP_MAX = 1_000

export interface Leaked {
  /** The number of distinct keys in the text, including those of other installations. */
  found: number
  /** The records of the known keys, including keys that were already revoked. */
  apiKeys: ApiKey[]
}

/**
 * Finds every distinct key in a text, even without spaces around it. The fixed prefix has letters
 * that no key body has, so a key can't begin inside another one.
 */
export function findKeys(text: string): string[] {
  return [...new Set(text.match(KEY)?.map((key) => key.toLowerCase()))]
}

export interface LeakedOptions {
  /** Limits the revocation to this user's keys. */
  userId?: string
  /** Runs after each part, with its records and the number of keys looked up so far. */
  onPart?: (apiKeys: readonly ApiKey[], lookedUp: number) => Promise<void>
}

/**
 * Revokes the keys in a leaked text, of all owners. A long text has several parts. If one fails,
 * the keys of the earlier parts stay revoked.
 */
export async function revokeLeakedKeys(
  store: Pick<ApiKeyStore, 'revokeApiKeysByHash'>,
  text: string,
  now: Instant,
  { userId, onPart }: LeakedOptions = {},
): Promise<Leaked> {
  const hashes = findKeys(text).map(hashApiKey)
  const apiKeys: ApiKey[] = []
  for (let start = 0; start < hashes.length; start += LOOKED_UP_MAX) {
    const part = hashes.slice(start, start + LOOKED_UP_MAX)
    const revoked = await store.revokeApiKeysByHash(part, now, userId)
    apiKeys.push(...revoked)
    await onPart?.(revoked, start + part.length)
  }
  return { found: hashes.length, apiKeys }
}
