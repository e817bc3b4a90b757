import { SESSION_LENGTH_US } from '../sessions.ts'

/**
 * Tokens that are looked up. Another port of the same host can set cookies of our name, which come
 * first.
 */
const TOKENS_MAX = 10
/** 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/

export interface SessionCookie {
  /** The tokens in a request's `Cookie` line, in order. */
  read(line: string): string[]
  /** A `Set-Cookie` line with this token. */
  set(token: string): string
  /** A `Set-Cookie` line that removes the token. */
  remove(): string
}

/** The session cookie. Under https its `__Host-` prefix keeps other hosts from setting it. */
export function sessionCookie(dashboardUrl: string): SessionCookie {
  const isSecure = dashboardUrl.startsWith('https://')
  const name = isSecure ? '__Host-session' : 'session'
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return {
    read(line) {
      const cookies = line.split(';').map((cookie) => cookie.trim())
      const values = cookies.filter((cookie) => cookie.startsWith(`${name}=`))
      const tokens = values.map((cookie) => cookie.slice(name.length + 1))
      return tokens.filter((token) => TOKEN.test(token)).slice(0, TOKENS_MAX)
    },
    set: (token) => `${name}=${token}; Max-Age=${SESSION_LENGTH_US / 1_000_000}; ${attributes}`,
    remove: () => `${name}=; Max-Age=0; ${attributes}`,
  }
}
