import type { Browser, Session } from '../model/session.ts'
import { DAY_US, HOUR_US, type Instant, MINUTE_US } from '../model/instant.ts'

/** The lifetime of a session. */
export const SESSION_LENGTH_US = 7 * DAY_US
/** An older session has to confirm that it is the user's, before an act that needs that. */
export const SESSION_FRESH_US = 10 * MINUTE_US
/**
 * A session's last activity is stored at most this often. On SQLite, each write of it makes the
 * serving process read keys and listings again.
 */
export const ACTIVITY_STEP_US = HOUR_US
/** How long a session has an operator's right that the identity provider gave it. */
export const OPERATOR_RIGHT_US = 12 * HOUR_US
/** Sessions per user; the newest ones stay. People use few browsers. */
export const SESSIONS_MAX = 20
/** The most expired sessions, of any user, that one sign-in removes. */
export const EXPIRED_DROPPED = 10
/** The number of stored characters of a browser's User-Agent. */
export const USER_AGENT_LENGTH_MAX = 256

/** Whether the session needs no confirmation. */
export function isFresh({ startedAt }: Pick<Session, 'startedAt'>, now: Instant): boolean {
  return now - startedAt < SESSION_FRESH_US
}

/** One of a user's sessions, for the list of them. */
export interface StoredSession extends Browser {
  id: string
  startedAt: Instant
  /** Up to ACTIVITY_STEP_US before the latest request. */
  lastActiveAt: Instant
}

/** A stored session. Only the browser has its token. */
export interface NewSession extends Browser {
  userId: string
  /** SHA-256 in lowercase hex. */
  tokenHash: string
  startedAt: Instant
  expiresAt: Instant
  /** Until then the session has an operator's right. By default it has none. */
  operatorUntil?: Instant | null
}

/** A session that is stored once its user is known. */
export type DraftSession = Omit<NewSession, 'userId'>
