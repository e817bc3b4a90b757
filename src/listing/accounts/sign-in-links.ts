import type { Instant } from '../instant.ts'

/** How long a sign-in link can work at most. */
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
  email: string
}

/**
 * Links with which users set a new password, one per user. A new password ends them, and so does
 * disabling the user.
 */
export interface SignInLinkStore {
  /** Replaces the user's link. False if the user is disabled, has no email address or is gone. */
  keepSignInLink(link: SignInLink): Promise<boolean>
  /** Reads the link without spending it. Null if it is unknown, used or expired. */
  findSignInLink(tokenHash: string, now: Instant): Promise<LinkedUser | null>
  /**
   * Spends the link: sets the password and ends all of the user's sessions. Exactly one of several
   * concurrent callers gets the user.
   */
  useSignInLink(tokenHash: string, passwordHash: string, now: Instant): Promise<LinkedUser | null>
}
