import type { BetterAuthPlugin } from 'better-auth'
import { createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import * as v from 'valibot'
import type { Passwords } from './passwords.ts'

/**
 * Signing in, for the library, which has it too, but for those e-mail addresses only that it likes: `ada@localhost` or
 * `ä@example.com` could never sign in, and would be told so sooner than others. Returns whether a session has begun.
 */
export function signInWith(passwords: Passwords) {
  return {
    id: 'sign-in',
    endpoints: {
      signIn: createAuthEndpoint.serverOnly(
        { method: 'POST', body: v.object({ email: v.string(), password: v.string() }) },
        async (ctx) => {
          const { internalAdapter } = ctx.context
          const { email, password } = ctx.body
          const found = await internalAdapter.findUserByEmail(email, { includeAccounts: true })
          const account = found?.accounts.find(({ providerId }) => providerId === 'credential')
          if (found === null || !account?.password) {
            // What is not there is as much work as what is.
            await passwords.hash(password)
            return false
          }
          if (!(await passwords.verify({ hash: account.password, password }))) return false
          const session = await internalAdapter.createSession(found.user.id)
          // It may have been changed while it was being checked, and all sessions ended before this one began.
          const after = await internalAdapter.findUserByEmail(email, { includeAccounts: true })
          if (!after?.accounts.some(({ password: present }) => present === account.password)) {
            await internalAdapter.deleteSession(session.token)
            return false
          }
          await setSessionCookie(ctx, { session, user: found.user })
          return true
        },
      ),

      /** The library has this too, and takes a database that fails for a wrong password. */
      isPassword: createAuthEndpoint.serverOnly(
        { method: 'POST', body: v.object({ userId: v.string(), password: v.string() }) },
        async (ctx) => {
          const { userId, password } = ctx.body
          const accounts = await ctx.context.internalAdapter.findAccounts(userId)
          const account = accounts.find(({ providerId }) => providerId === 'credential')
          if (!account?.password) return false
          return passwords.verify({ hash: account.password, password })
        },
      ),
    },
  } satisfies BetterAuthPlugin
}
