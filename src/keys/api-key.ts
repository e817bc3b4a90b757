import { randomBytes } from 'node:crypto'
import type { Instant } from '../model/instant.ts'
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

/**
 * A new key: the fixed prefix and 64 lowercase hex digits from a cryptographic source (spec 2.2).
 */
export function generateKey(): string {
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
