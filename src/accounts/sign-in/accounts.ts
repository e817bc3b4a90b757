import type { Actor } from '../../model/audit.ts'
import type { Browser, Session } from '../../model/session.ts'
import type { Instant } from '../../model/instant.ts'
import { SESSION_LENGTH_US, USER_AGENT_LENGTH_MAX } from '../sessions.ts'
import { createToken, hashToken } from '../token.ts'
import { createPasswords } from './passwords.ts'
import { sessionCookie } from './session-cookie.ts'
import type { Database } from '../../database/database.ts'
import type { DraftSession } from '../sessions.ts'
import { sessions } from '../records/sessions.ts'
import { signInLinks } from '../records/sign-in-links.ts'
import { passwords } from '../records/passwords.ts'

/** Sign-in, for the dashboard and the commands. A `line` is the `Cookie` header of a request. */
export type Accounts = ReturnType<typeof createAccounts>

/** A new session. `cookies` are lines for `Set-Cookie`. */
export interface SignedIn {
  userId: string
  cookies: readonly string[]
}

export interface AccountsOptions {
  /** The dashboard's public URL. */
  dashboardUrl: string
  now(): Instant
}

/** A session that begins now, for a user still to be found. Only the browser gets the token. */
export function draftSession(
  { userAgent, address }: Browser,
  startedAt: Instant,
  operatorUntil: Instant | null = null,
): { draft: DraftSession; token: string } {
  const token = createToken()
  const draft = {
    tokenHash: hashToken(token),
    userAgent: userAgent.slice(0, USER_AGENT_LENGTH_MAX),
    address,
    startedAt,
    expiresAt: startedAt + SESSION_LENGTH_US,
    operatorUntil,
  }
  return { draft, token }
}

/**
 * Signs users in and out. The store has only hashes of session tokens, so a copy of it is not
 * enough to sign in.
 */
export function createAccounts(database: Database, { dashboardUrl, now }: AccountsOptions) {
  const hasher = createPasswords()
  const cookie = sessionCookie(dashboardUrl)
  const hashesIn = (line: string) => cookie.read(line).map(hashToken)

  const accounts = {
    /**
     * The session of the cookie, always read from the store. Null if there is none or it has ended.
     */
    async readSession(line: string): Promise<Session | null> {
      const hashes = hashesIn(line)
      return hashes.length === 0 ? null : sessions(database).findSession(hashes, now())
    },

    /**
     * Begins a session. Null for an unknown email address or a wrong password, after the same work.
     */
    async signIn(email: string, password: string, browser: Browser): Promise<SignedIn | null> {
      const stored = await passwords(database).findPassword(email)
      const { isRight, renewed } = await hasher.check(password, stored?.hash ?? null)
      if (stored === null || !isRight) return null
      const { userId } = stored
      const { draft, token } = draftSession(browser, now())
      if (await sessions(database).beginSession({ ...draft, userId }, stored.hash, renewed))
        return { userId, cookies: [cookie.set(token)] }
      // The stored hash changed during the check: a new password, or another sign-in renewed the
      // hash.
      return accounts.signIn(email, password, browser)
    },

    /**
     * Spends a sign-in link and begins a session without a new password, in place of the user's
     * session of the cookie. Null if the link is spent.
     */
    async useLink(linkHash: string, line: string, browser: Browser): Promise<SignedIn | null> {
      const { draft, token } = draftSession(browser, now())
      const links = signInLinks(database)
      const userId = await links.beginLinkedSession(linkHash, draft, hashesIn(line))
      return userId === null ? null : { userId, cookies: [cookie.set(token)] }
    },

    /** Ends all sessions in the cookie. */
    async signOut(line: string, actor: Actor): Promise<readonly string[]> {
      await sessions(database).endSessionsOf(hashesIn(line), actor)
      return [cookie.remove()]
    },

    /** The stored hash that matches the password. Null if this is not the user's password. */
    async checkPassword(userId: string, password: string): Promise<string | null> {
      const stored = await passwords(database).findPasswordHash(userId)
      return (await hasher.check(password, stored)).isRight ? stored : null
    },

    /** Hashes a password for the store. Throws Overloaded. */
    hashPassword: (password: string): Promise<string> => hasher.hash(password),
  }
  return accounts
}
