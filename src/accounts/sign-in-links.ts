import type { Instant } from '../model/instant.ts'

/** How long a sign-in link works, and how long it can work at most. */
export const LINK_HOURS = 1
export const LINK_HOURS_MAX = 72

/** A link that an operator gives to a user. Only the link itself has its token. */
export interface SignInLink {
  userId: string
  /** SHA-256 in lowercase hex. */
  tokenHash: string
  expiresAt: Instant
}

/** The user whom a link signs in. */
export interface LinkedUser {
  id: string
  /** Null if a link can begin a session only: a password without an address signs no one in. */
  email: string | null
  name: string
}
