import { type ApiKey, prefixOf } from '../api-key.ts'
import { hashApiKey } from '../../model/key-hash.ts'
import { findKeys, findPrefixes } from '../leaked-keys.ts'
import { apiKeys, revokeAll } from './api-keys.ts'
import { inStrings, sql, uuid } from '../../database/sql.ts'
import type { Database } from '../../database/database.ts'
import type { Actor } from '../../model/audit.ts'

/** Keys per statement. A form has fewer keys, so it revokes all of them in one transaction. */
const LOOKED_UP_MAX = 1_000

export interface Leaked {
  /** The number of distinct keys in the text, or of their prefixes, including unknown ones. */
  found: number
  /** The records of the known keys, including keys that were already revoked. */
  apiKeys: ApiKey[]
}

export interface LeakedOptions {
  /** Limits the revocation to this user's keys. Among these, the prefix of a key suffices. */
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
  const whole = findKeys(text)
  const hashes = whole.map(hashApiKey)
  const keys: ApiKey[] = []
  for (let start = 0; start < hashes.length; start += LOOKED_UP_MAX) {
    const part = hashes.slice(start, start + LOOKED_UP_MAX)
    const revoked = await apiKeys(database).revokeApiKeysByHash(part, actor, userId)
    keys.push(...revoked)
    await onPart?.(revoked, start + part.length)
  }
  if (userId === undefined) return { found: hashes.length, apiKeys: keys }
  const known = new Set(whole.map(prefixOf))
  const prefixes = findPrefixes(text).filter((prefix) => !known.has(prefix))
  const revoked = await revokeByPrefix(database, prefixes, actor, userId)
  const unknown = prefixes.filter((prefix) => !revoked.some((one) => one.prefix === prefix))
  const found = hashes.length + revoked.length + unknown.length
  return { found, apiKeys: [...keys, ...revoked] }
}

/**
 * Revokes each of the user's keys with one of these prefixes. Returns their records, including keys
 * that were already revoked.
 */
export function revokeByPrefix(
  database: Database,
  prefixes: readonly string[],
  actor: Actor,
  userId: string,
): Promise<ApiKey[]> {
  const own = sql`user_id = ${uuid(userId)} AND prefix ${inStrings(prefixes)}`
  return revokeAll(database, own, actor)
}
