import type { Accounts } from '../listing/accounts/accounts.ts'
import type { Instant } from '../listing/instant.ts'
import type { PasswordStore } from '../listing/accounts/passwords.ts'
import {
  SESSION_LENGTH_US,
  type SessionStore,
  USER_AGENT_LENGTH_MAX,
} from '../listing/accounts/sessions.ts'
import { createToken, hashToken } from '../listing/accounts/token.ts'
import { createPasswords } from './passwords.ts'
import { sessionCookie } from './session-cookie.ts'

export interface AccountsOptions {
  /** The dashboard's public URL. */
  dashboardUrl: string
  now(): Instant
}

/**
 * Signs users in and out. The store has only hashes of session tokens, so a copy of it is not
 * enough to sign in.
 */
export function createAccounts(
  store: SessionStore & Pick<PasswordStore, 'findPassword' | 'findPasswordHash'>,
  { dashboardUrl, now }: AccountsOptions,
): Accounts {
  const passwords = createPasswords()
  const cookie = sessionCookie(dashboardUrl)
  const hashesIn = (line: string) => cookie.read(line).map(hashToken)

  const accounts: Accounts = {
    async readSession(line) {
      const hashes = hashesIn(line)
      return hashes.length === 0 ? null : store.findSession(hashes, now())
    },

    async signIn(email, password, browser) {
      const stored = await store.findPassword(email)
      const { isRight, renewed } = await passwords.check(password, stored?.hash ?? null)
      if (stored === null || !isRight) return null
      const { userId } = stored
      const token = createToken()
      const startedAt = now()
      const session = {
        userId,
        tokenHash: hashToken(token),
        userAgent: browser.userAgent.slice(0, USER_AGENT_LENGTH_MAX),
        address: browser.address,
        startedAt,
        expiresAt: startedAt + SESSION_LENGTH_US,
      }
      if (await store.beginSession(session, stored.hash, renewed))
        return { userId, cookies: [cookie.set(token)] }
      // The stored hash changed during the check: a new password, or another sign-in renewed the
      // hash.
      return accounts.signIn(email, password, browser)
    },

    async signOut(line) {
      await store.endSessionsOf(hashesIn(line))
      return [cookie.remove()]
    },

    async checkPassword(userId, password) {
      const stored = await store.findPasswordHash(userId)
      return (await passwords.check(password, stored)).isRight ? stored : null
    },

    hashPassword: passwords.hash,
  }
  return accounts
}
