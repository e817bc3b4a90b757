import { hash } from 'node:crypto'
import type { Instant } from './instant.ts'

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

/** Revoked keys: the instant by the key's hash in hexadecimal. */
export type Revocations = ReadonlyMap<string, Instant>
