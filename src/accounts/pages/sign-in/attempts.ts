import {
  WRONG_PASSWORDS_MAX,
  WRONG_PASSWORDS_OF_ACCOUNT_MAX,
  WRONG_PASSWORDS_OF_ADDRESS_MAX,
} from '../../rate-limits.ts'
import { type AttemptSubject, signInAttempts } from '../../records/sign-in-attempts.ts'
import { EMAIL_LENGTH_MAX } from '../../../model/email.ts'
import type { Accounts } from '../../sign-in/accounts.ts'
import type { Oidc } from '../../sign-in/oidc/oidc.ts'
import { actorOf, addressOf, type Context, type Dashboard, fieldOf } from '../../../web/context.ts'
import { audit } from '../../records/audit.ts'
import { bestEffort } from '../../../web/request/best-effort.ts'
import { subjectOf, takeAttempt } from './rate-limit.ts'
import { identities } from '../../records/identities.ts'
import { users } from '../../records/users.ts'

/** What the pages of accounts need, beside what all pages need. */
export interface AccountsDashboard extends Dashboard {
  accounts: Accounts
  /** False if no user signs in by password. */
  passwords: boolean
  /** Sign-in with the accounts of an identity provider. Null if there is none. */
  oidc: Oidc | null
}

/** Whether the user can sign in with the identity provider. */
export async function isConnected(
  { database, oidc }: AccountsDashboard,
  userId: string,
): Promise<boolean> {
  const own = oidc === null ? [] : await identities(database).listIdentities(userId)
  return own.some(({ issuer }) => issuer === oidc?.issuer)
}

export type Tried<T> =
  | { outcome: 'good'; result: T }
  | { outcome: 'refused'; status: 401 | 429; message: string }

/**
 * Runs an attempt to sign in unless the account, the client address or both together reached their
 * limit. The attempt counts before it runs, so that concurrent attempts can't get around the limit.
 * `body` returns null for a wrong password.
 */
export async function attempt<T>(
  dashboard: Dashboard,
  c: Context,
  email: string,
  body: () => Promise<T | null>,
): Promise<Tried<T>> {
  const address = addressOf(dashboard, c)
  const own = { subject: subjectOf('pair', email, address), attemptsMax: WRONG_PASSWORDS_MAX }
  return attemptUnder(dashboard, c, { name: email }, own, body, [
    { subject: subjectOf('account', email), attemptsMax: WRONG_PASSWORDS_OF_ACCOUNT_MAX },
    { subject: subjectOf('address', address), attemptsMax: WRONG_PASSWORDS_OF_ADDRESS_MAX },
  ])
}

/**
 * Checks the password of the signed-in user again. It counts for this session only, so that
 * attempts by strangers can't lock the user out. Returns the stored hash that the password matches,
 * or why the password is refused.
 */
export async function confirmPassword(
  dashboard: AccountsDashboard,
  c: Context,
): Promise<{ checked: string } | { status: 403 | 429; message: string }> {
  const { userId, name, startedAt } = c.get('session')
  const subject = subjectOf('session', userId, String(startedAt))
  const own = { subject, attemptsMax: WRONG_PASSWORDS_MAX }
  const tried = await attemptUnder(dashboard, c, { name, userId }, own, () =>
    dashboard.accounts.checkPassword(userId, fieldOf(c, 'password')),
  )
  if (tried.outcome === 'good') return { checked: tried.result }
  const { status, message } = tried
  return status === 401 ? { status: 403, message: 'The password is wrong.' } : { status, message }
}

/** A right password clears the attempts under `own`, and removes this attempt from `others`. */
async function attemptUnder<T>(
  dashboard: Dashboard,
  c: Context,
  account: { name: string; userId?: string },
  own: AttemptSubject,
  body: () => Promise<T | null>,
  others: readonly AttemptSubject[] = [],
): Promise<Tried<T>> {
  const { database } = dashboard
  const wait = await takeAttempt(dashboard, c, [own, ...others])
  if (wait !== null) {
    const message = `Too many wrong passwords. Try again in ${wait}.`
    return { outcome: 'refused', status: 429, message }
  }

  const otherSubjects = others.map(({ subject }) => subject)
  let result: T | null
  try {
    result = await body()
  } catch (error) {
    // The password was not checked, so the attempt must not count.
    const taken = [own.subject, ...otherSubjects]
    await bestEffort(dashboard, () => signInAttempts(database).forgetAttempts([], taken), undefined)
    throw error
  }
  if (result !== null) {
    const clear = () => signInAttempts(database).forgetAttempts([own.subject], otherSubjects)
    await bestEffort(dashboard, clear, undefined)
    return { outcome: 'good', result }
  }
  const { name, userId = (await users(database).findUser(name))?.id ?? null } = account
  const { address, at: occurred_at } = actorOf(dashboard, c)
  const subject = name.slice(0, EMAIL_LENGTH_MAX)
  const entry = {
    action: 'sign-in refused',
    user_id: userId,
    subject,
    address,
    occurred_at,
  } as const
  await bestEffort(dashboard, () => audit(database).writeAudit(entry), undefined)
  return {
    outcome: 'refused',
    status: 401,
    message: 'The email address or the password is wrong.',
  }
}
