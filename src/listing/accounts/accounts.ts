import type { Actor } from './audit.ts'
import type { Browser, Session } from './sessions.ts'

/** Lines for `Set-Cookie`. */
export type Cookies = readonly string[]

/** A new session. */
export interface SignedIn {
  userId: string
  cookies: Cookies
}

/** Sign-in, for the dashboard and the commands. `cookie` is the `Cookie` header of a request. */
export interface Accounts {
  /**
   * The session of the cookie, always read from the store. Null if there is none or it has ended.
   */
  readSession(cookie: string): Promise<Session | null>
  /**
   * Begins a session. Null for an unknown email address or a wrong password, after the same work.
   */
  signIn(email: string, password: string, browser: Browser): Promise<SignedIn | null>
  /** Ends all sessions in the cookie. */
  signOut(cookie: string, actor: Actor): Promise<Cookies>
  /** The stored hash that matches the password. Null if this is not the user's password. */
  checkPassword(userId: string, password: string): Promise<string | null>
  /** Hashes a password for the store. Throws Overloaded. */
  hashPassword(password: string): Promise<string>
}

/** Too many passwords wait to be checked. Nothing has changed. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}
