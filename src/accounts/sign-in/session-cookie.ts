import { SESSION_LENGTH_US } from '../sessions.ts'
import { type HostCookie, hostCookie } from './host-cookie.ts'

/**
 * Tokens that are looked up. Another port of the same host can set cookies of our name, which come
 * first.
 */
const TOKENS_MAX = 10
/** 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/

/** The cookie with the token of a session. Reads nothing that can't be a token. */
export function sessionCookie(dashboardUrl: string): HostCookie {
  const cookie = hostCookie(dashboardUrl, 'session', SESSION_LENGTH_US)
  return {
    ...cookie,
    read(line) {
      const tokens = cookie.read(line).filter((token) => TOKEN.test(token))
      return tokens.slice(0, TOKENS_MAX)
    },
  }
}
