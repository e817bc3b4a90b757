import type { Instant } from './instant.ts'

/** Revoked keys: the instant by the key's hash in hexadecimal. */
export type Revocations = ReadonlyMap<string, Instant>
