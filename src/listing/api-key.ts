import { hash, randomBytes } from 'node:crypto'
import type { Instant } from './instant.ts'
import { FIXED_PREFIX, KEY_BODY_LENGTH, KEY_NAME_LENGTH_MAX, PREFIX_LENGTH } from './key-format.ts'
import { complaintAboutLine, quote } from './text.ts'

/** The minimum time between two granted claims of one key (spec 8.1). */
export const CLAIM_INTERVAL_US = 1_000_000

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

/**
 * SHA-256 of the full key, 32 bytes. A slow hash would add nothing to 256 random bits. The lookup
 * compares hashes, so its timing reveals nothing about a key.
 */
export function hashApiKey(key: string): Buffer {
  // V8 keeps a small array of Buffer.alloc in its heap. Other Buffers have memory outside, which
  // costs more than the hash, or share a pool, which survives many requests.
  const bytes = hash('sha256', key, 'binary')
  const keyHash = Buffer.alloc(bytes.length)
  for (let at = 0; at < bytes.length; at += 1) keyHash[at] = bytes.charCodeAt(at)
  return keyHash
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
