import type { Instant } from '../instant.ts'

/** Revoked keys: the instant by the key's hash in hexadecimal. */
export type Revocations = ReadonlyMap<string, Instant>

/** The list of revoked keys, which only grows. */
export interface RevocationStore {
  /**
   * Adds to the list, which revokes the keys that are here. Returns how many hashes it lacked. Each
   * batch is one transaction.
   */
  uniteRevocations(revocations: Revocations): Promise<number>
}
