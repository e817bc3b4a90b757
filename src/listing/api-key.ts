import { hash, randomBytes } from 'node:crypto'
import type { Instant } from './instant.ts'
import { complaintAboutLine, quote } from './text.ts'

/** Every key begins with these characters (spec 2.2). */
export const FIXED_PREFIX = 'svc_live_'
/** Characters of a key that are kept and shown (spec 2.2). */
export const PREFIX_LENGTH = 16
/** A key's name has 1 to this many code points (spec 2.2, 8). */
export const KEY_NAME_LENGTH_MAX = 64
/** Keys that one user may have unrevoked at a time (spec 5.3, 8). */
export const ACTIVE_KEYS_MAX = 5
/** Microseconds that have to pass between two uses of one key (spec 8.1: at least one second). */
export const USE_INTERVAL = 1_000_000

const RANDOM_BYTES = 32

/** The record of a key. The key itself is nowhere: only its hash is stored, and that stays in the store. */
export interface ApiKey {
  id: string
  user_id: string
  name: string
  /** The first characters of the key, for people to tell their keys apart. Not unique. */
  prefix: string
  created_at: Instant
  revoked_at: Instant | null
  last_used_at: Instant | null
}

/** A new key: the fixed prefix and 64 lower-case hex digits of a cryptographic random source (spec 2.2). */
export function generateKey(): string {
  return FIXED_PREFIX + randomBytes(RANDOM_BYTES).toString('hex')
}

/**
 * SHA-256 of the full key, 32 bytes. With 256 random bits in the key a slow hash would protect nothing more, and the
 * lookup by this hash gives an attacker no prefix to steer.
 */
export function hashApiKey(key: string): Buffer {
  // By way of a string: asked for bytes, Node sets memory of its own aside for each, which costs more than the hash.
  return Buffer.from(hash('sha256', key, 'hex'), 'hex')
}

export function prefixOf(key: string): string {
  return key.slice(0, PREFIX_LENGTH)
}

/** The name as it will be stored, trimmed; or why it cannot be one. */
export function checkKeyName(name: string): { name: string } | { complaint: string } {
  const trimmed = name.trim()
  const complaint = complaintAboutLine(trimmed, KEY_NAME_LENGTH_MAX)
  if (complaint === null) return { name: trimmed }
  return { complaint: `a key's name must ${complaint}: ${quote(name)}` }
}
