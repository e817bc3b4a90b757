import { DAY_US, type Instant } from '../model/instant.ts'
import {
  FIXED_PREFIX,
  KEY_BODY_LENGTH,
  KEY_NAME_LENGTH_MAX,
  PREFIX_LENGTH,
} from '../model/key-format.ts'
import { complaintAboutLine, quote } from '../model/text.ts'

/** The record of a key, without the key or its hash. Only the store has the hash. */
export interface ApiKey {
  id: string
  user_id: string
  name: string
  /** The first characters of the key, so that people can tell keys apart. Not unique. */
  prefix: string
  created_at: Instant
  revoked_at: Instant | null
  last_used_at: Instant | null
}

/** A key counts as unused after this long without a use, or since its issue if it has none. */
export const UNUSED_US = 90 * DAY_US

/** The last use of a key. A key without one counts from its issue. */
export function lastUseOf({ last_used_at, created_at }: ApiKey): Instant {
  return last_used_at ?? created_at
}

/** True for an active key that was last used before then. */
export function isUnused(apiKey: ApiKey, before: Instant): boolean {
  return apiKey.revoked_at === null && lastUseOf(apiKey) < before
}

/**
 * A new key: the fixed prefix and 64 lowercase hex digits from a cryptographic source (spec 2.2).
 */
export function generateKey(): string {
  // Loaded here: a command that lists needs no cryptography.
  const { randomBytes } = process.getBuiltinModule('node:crypto')
  return FIXED_PREFIX + randomBytes(KEY_BODY_LENGTH / 2).toString('hex')
}

export function prefixOf(key: string): string {
  return key.slice(0, PREFIX_LENGTH)
}

/** Trims a name for the store, or says why it is invalid. */
export function checkKeyName(name: string): { name: string } | { complaint: string } {
  const trimmed = name.trim()
  const complaint = complaintAboutLine(trimmed, KEY_NAME_LENGTH_MAX)
  if (complaint === null) return { name: trimmed }
  return { complaint: `a key's name must ${complaint}: ${quote(name)}` }
}
