import type { Instant } from './instant.ts'
import type { User } from './user.ts'

/** Characters of a password. Any characters are allowed; length is what makes guessing hard. */
export const PASSWORD_LENGTH_MIN = 10
export const PASSWORD_LENGTH_MAX = 128
/** A session this old asks for the password again before a key is issued; in microseconds. */
export const SESSION_FRESH = 600_000_000

/** Someone who is signed in, as the store knew it when the request was read. */
export interface Session {
  userId: string
  email: string
  startedAt: Instant
}

/** Lines for `Set-Cookie`. */
export type Cookies = readonly string[]

/** What the dashboard and the commands ask of sign-in. `cookie` is a request's `Cookie` line. */
export interface Accounts {
  /** The session that the cookie names, read from the store every time; null if it has ended or never was. */
  readSession(cookie: string): Promise<Session | null>
  /** Begins a session; null for an unknown e-mail and a wrong password alike, after the same work. */
  signIn(email: string, password: string, userAgent: string): Promise<Cookies | null>
  /** Ends the session that the cookie names. */
  signOut(cookie: string): Promise<Cookies>
  /** Whether this is the password of the user who is signed in. */
  isPassword(cookie: string, password: string): Promise<boolean>
  /** What is stored of a password. Throws Overloaded. */
  hashPassword(password: string): Promise<string>
}

/** More passwords have to be checked than can be soon. Nothing was changed. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

/** Why this cannot be a password, in words that follow "the password must"; null if it can. */
export function complaintAboutPassword(password: string, email: string): string | null {
  const length = [...password].length
  if (length < PASSWORD_LENGTH_MIN || length > PASSWORD_LENGTH_MAX)
    return `have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters, not ${length}`
  if (!password.isWellFormed()) return 'be well-formed Unicode'
  if (password.toLowerCase() === email.toLowerCase()) return 'not be the e-mail address'
  return null
}

/** How long an entry of the audit log is kept, in microseconds, and how many older ones go with a new one. */
export const AUDIT_KEPT = 400 * 86_400_000_000
export const AUDIT_DROPPED = 10

/** What happened, who did it and from where: no secret and no password. */
export interface AuditEntry {
  user_id: string | null
  action: AuditAction
  /** What it was done to: an id, or an e-mail address. */
  subject: string
  address: string
  occurred_at: Instant
}

export type AuditAction =
  | 'sign-up'
  | 'sign-in'
  | 'sign-in refused'
  | 'sign-out'
  | 'sign-out everywhere'
  | 'password changed'
  | 'e-mail changed'
  | 'invited'
  | 'invitation accepted'
  | 'member removed'
  | 'servers given back'
  | 'key issued'
  | 'key revoked'

/** One of the things an attempt to sign in is counted under. */
export interface AttemptSubject {
  subject: string
  attemptsMax: number
}

/** What accounts need of a store. Each method is one transaction, as in `Store`. */
export interface AccountStore {
  hasUsers(): Promise<boolean>
  /** A user who can sign in. False if the e-mail is taken. */
  insertUserWithPassword(user: User, passwordHash: string): Promise<boolean>
  /** The same for the first user of an installation, by the token of its setup link; false also if that is used up. */
  insertFirstUser(user: User, passwordHash: string, setupToken: string): Promise<boolean>
  /** Sets the password and ends all of the user's sessions. */
  setPassword(userId: string, passwordHash: string, now: Instant): Promise<void>
  /** False if another user has this e-mail. */
  changeEmail(userId: string, email: string, now: Instant): Promise<boolean>
  endSessions(userId: string): Promise<void>
  /** Removes what is left of the user's sessions that have ended by themselves. */
  dropEndedSessions(userId: string, now: Instant): Promise<void>
  /** The secret of this name, which becomes `fresh` if there is none. All callers get the same. */
  keepSecret(name: SecretName, fresh: string): Promise<string>
  /** The secret of this name, or null. */
  findSecret(name: SecretName): Promise<string | null>

  /**
   * Counts an attempt to sign in under every subject, unless one of them had its number of attempts since `since`:
   * then nothing is counted, and the result is the instant of the oldest one that stands in the way.
   */
  beginAttempt(
    subjects: readonly AttemptSubject[],
    since: Instant,
    now: Instant,
  ): Promise<Instant | null>
  /** Forgets the attempts under these subjects, the last one having been good; of `others` only that last one. */
  forgetAttempts(subjects: readonly string[], others: readonly string[]): Promise<void>

  /** Also removes up to AUDIT_DROPPED entries that are older than AUDIT_KEPT, so that the log stays as long as that. */
  writeAudit(entry: AuditEntry): Promise<void>
  /** The user's latest entries, newest first. */
  listAudit(userId: string, entriesMax: number): Promise<AuditEntry[]>
}

export type SecretName = 'cookies' | 'setup'
