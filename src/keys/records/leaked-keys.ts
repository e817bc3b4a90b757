import type { ApiKey } from '../api-key.ts'
import { hashApiKey } from '../../model/key-hash.ts'
import { findKeys } from '../leaked-keys.ts'
import { apiKeys } from './api-keys.ts'
import type { Database } from '../../database/database.ts'
import type { Actor } from '../../model/audit.ts'

/** Keys per statement. A form has fewer keys, so it revokes all of them in one transaction. */
const LOOKED_UP_MAX = 1_000

export interface Leaked {
  /** The number of distinct keys in the text, including those of other installations. */
  found: number
  /** The records of the known keys, including keys that were already revoked. */
  apiKeys: ApiKey[]
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
  database: Database,
  text: string,
  actor: Actor,
  { userId, onPart }: LeakedOptions = {},
): Promise<Leaked> {
  const hashes = findKeys(text).map(hashApiKey)
  const keys: ApiKey[] = []
  for (let start = 0; start < hashes.length; start += LOOKED_UP_MAX) {
    const part = hashes.slice(start, start + LOOKED_UP_MAX)
    const revoked = await apiKeys(database).revokeApiKeysByHash(part, actor, userId)
    keys.push(...revoked)
    await onPart?.(revoked, start + part.length)
  }
  return { found: hashes.length, apiKeys: keys }
}
