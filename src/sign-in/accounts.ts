import type { Accounts } from '../listing/accounts/accounts.ts'
import type { Instant } from '../listing/instant.ts'
import { SESSION_LENGTH_US, USER_AGENT_LENGTH_MAX } from '../listing/accounts/sessions.ts'
import { createToken, hashToken } from '../listing/accounts/token.ts'
import { createPasswords } from './passwords.ts'
import { sessionCookie } from './session-cookie.ts'
import type { Database } from '../management/database.ts'
import { sessions } from '../management/accounts/sessions.ts'
import { passwords } from '../management/accounts/passwords.ts'

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
  database: Database,
  { dashboardUrl, now }: AccountsOptions,
): Accounts {
  const hasher = createPasswords()
  const cookie = sessionCookie(dashboardUrl)
  const hashesIn = (line: string) => cookie.read(line).map(hashToken)

  const accounts: Accounts = {
    async readSession(line) {
      const hashes = hashesIn(line)
      return hashes.length === 0 ? null : sessions(database).findSession(hashes, now())
    },

    async signIn(email, password, browser) {
      const stored = await passwords(database).findPassword(email)
      const { isRight, renewed } = await hasher.check(password, stored?.hash ?? null)
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
      if (await sessions(database).beginSession(session, stored.hash, renewed))
        return { userId, cookies: [cookie.set(token)] }
      // The stored hash changed during the check: a new password, or another sign-in renewed the
      // hash.
      return accounts.signIn(email, password, browser)
    },

    async signOut(line, actor) {
      await sessions(database).endSessionsOf(hashesIn(line), actor)
      return [cookie.remove()]
    },

    async checkPassword(userId, password) {
      const stored = await passwords(database).findPasswordHash(userId)
      return (await hasher.check(password, stored)).isRight ? stored : null
    },

    hashPassword: hasher.hash,
  }
  return accounts
}
