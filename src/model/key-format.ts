import { formatInstant, type Instant } from './instant.ts'

/** The start of every key (spec 2.2). */
export const FIXED_PREFIX = 'svc_live_'
/** The number of hex digits after the fixed prefix. */
export const KEY_BODY_LENGTH = 64
/** The number of characters that the service stores and shows (spec 2.2). */
export const PREFIX_LENGTH = 16
/** The maximum length of a key's name in code points (spec 2.2, 8). */
export const KEY_NAME_LENGTH_MAX = 64
/** Active keys per user (spec 5.3, 8). */
export const ACTIVE_KEYS_MAX = 5

/** The line of a revoked key in a list of revocations: its hash in hexadecimal. */
export const revocationLine = (hash: string, at: Instant): string =>
  `${formatInstant(at)} key ${hash}\n`
