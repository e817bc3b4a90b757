import type { Instant } from './instant.ts'

/** A signed-in user, as the store had it at the start of the request. */
export interface Session {
  id: string
  userId: string
  email: string | null
  /** The id that the operator's own site has for the user, if the site manages the account. */
  externalId: string | null
  /** The address, if OPERATORS may name it: no site and no identity provider gave it. */
  listedEmail: string | null
  /** What the pages show for the user. */
  name: string
  startedAt: Instant
  /** Up to ACTIVITY_STEP_US before the latest request. */
  lastActiveAt: Instant
  /** Until then the session has an operator's right from the identity provider. Null for none. */
  operatorUntil: Instant | null
}

/** What a browser tells of itself, and its address. */
export interface Browser {
  /** At most USER_AGENT_LENGTH_MAX characters are stored. */
  userAgent: string
  address: string
}
