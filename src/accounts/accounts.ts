import { randomUUID } from 'node:crypto'
import { betterAuth } from 'better-auth'
import type { Dialect } from 'kysely'
import {
  type Accounts,
  type Cookies,
  PASSWORD_LENGTH_MAX,
  type Session,
} from '../listing/accounts.ts'
import { createPasswords, type Passwords } from './passwords.ts'
import { signInWith } from './sign-in.ts'

export interface AccountsOptions {
  dialect: Dialect
  engine: 'sqlite' | 'postgres'
  /** What cookies are signed with. */
  secret: string
  /** Where people reach the dashboard. Under https its cookie is for that host alone. */
  dashboardUrl: string
}

/** Seconds after which a session ends by itself. */
const SESSION_SECONDS = 7 * 24 * 3600

const SNAKE_CASE = { createdAt: 'created_at', updatedAt: 'updated_at', userId: 'user_id' }

/**
 * Sign-in by the library. None of its routes is served: the few that are used are called from here. Whatever changes
 * an account is a transaction of the store's own.
 */
export function createAccounts(options: AccountsOptions): Accounts {
  const passwords = createPasswords()
  const auth = openLibrary(options, passwords)

  async function readSession(cookie: string): Promise<Session | null> {
    const found = await auth.api.getSession({ headers: new Headers({ cookie }) })
    if (found === null) return null
    const { user, session } = found
    return { userId: user.id, email: user.email, startedAt: session.createdAt.getTime() * 1000 }
  }

  return {
    readSession,

    async signIn(email, password, userAgent) {
      const { response: hasBegun, headers } = await auth.api.signIn({
        body: { email, password },
        headers: new Headers({ 'user-agent': userAgent }),
        returnHeaders: true,
      })
      return hasBegun ? cookiesOf(headers) : null
    },

    async signOut(cookie) {
      const ended = await auth.api.signOut({
        headers: new Headers({ cookie }),
        returnHeaders: true,
      })
      // The library says so even where it could not.
      if ((await readSession(cookie)) !== null) throw new Error('the session could not be ended')
      return cookiesOf(ended.headers)
    },

    async isPassword(cookie, password) {
      const session = await readSession(cookie)
      if (session === null) return false
      return auth.api.isPassword({ body: { userId: session.userId, password } })
    },

    hashPassword: passwords.hash,
  }
}

function openLibrary(options: AccountsOptions, passwords: Passwords) {
  const { dialect, engine, secret, dashboardUrl } = options
  const isSecure = dashboardUrl.startsWith('https://')
  return betterAuth({
    baseURL: dashboardUrl,
    secret,
    database: { dialect, type: engine, transaction: false },
    logger: { disabled: true },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      // In UTF-16 units, of which a character has two at most. The rule itself is in `listing/accounts.ts`.
      maxPasswordLength: 2 * PASSWORD_LENGTH_MAX,
      password: passwords,
    },
    user: { modelName: 'users', fields: { ...SNAKE_CASE, emailVerified: 'email_verified' } },
    session: {
      modelName: 'sessions',
      fields: {
        ...SNAKE_CASE,
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
      },
      expiresIn: SESSION_SECONDS,
      // A session that is read is not written, and is read from the store each time.
      disableSessionRefresh: true,
      cookieCache: { enabled: false },
    },
    plugins: [signInWith(passwords)],
    account: {
      modelName: 'accounts',
      fields: {
        ...SNAKE_CASE,
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
      },
    },
    advanced: {
      // Where it joins by itself it writes faults to stderr, past every logger.
      database: { generateId: () => randomUUID(), validateSchema: false, joins: true },
      ipAddress: { disableIpTracking: true },
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isSecure, httpOnly: true, sameSite: 'lax', path: '/' },
      cookies: { session_token: { name: isSecure ? '__Host-session' : 'session' } },
    },
  })
}

function cookiesOf(headers: Headers): Cookies {
  return headers.getSetCookie()
}
