import { FIXED_PREFIX } from '../model/key-format.ts'

/**
 * The scheme in any case, exactly one space, and a key with the fixed prefix (spec 5.1, 5.2 steps 1
 * and 2). A key has no white space and nothing beyond ASCII, so padding of any kind is refused
 * here. The parser trims nothing. HTTP itself removes white space around the whole header value
 * (RFC 9110, 5.5).
 */
const BEARER_KEY = new RegExp(`^[Bb][Ee][Aa][Rr][Ee][Rr] (${FIXED_PREFIX}[!-~]*)$`)

/** Returns the key, or null if the value has no key with the fixed prefix. */
export function readBearer(authorization: string | null): string | null {
  return BEARER_KEY.exec(authorization ?? '')?.[1] ?? null
}
