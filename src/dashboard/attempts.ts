import { hash } from 'node:crypto'
import type { Instant } from '../listing/instant.ts'
import { addressOf, afterwards, audit, type Dashboard, type Visit } from './visit.ts'

/** How long an attempt counts, in microseconds. */
const WINDOW = 900_000_000
/** Wrong passwords in that time: for one account from one address, for one account, and from one address. */
const ATTEMPTS_MAX = 5
const ATTEMPTS_OF_ACCOUNT_MAX = 100
const ATTEMPTS_OF_ADDRESS_MAX = 50
/** Accounts made in that time from one address. */
const ACCOUNTS_MAX = 20

export type Tried<T> =
  | { outcome: 'good'; result: T }
  | { outcome: 'refused'; status: 401 | 429 | 503; message: string }

/**
 * Lets a password be tried, if not too many were: for this account from this address, and for each of the two, in the
 * database. An attempt is counted before it is made, so that many at once are no way around it. `body` returns null
 * for a wrong one.
 */
export async function attempt<T>(
  dashboard: Dashboard,
  visit: Visit,
  email: string,
  body: () => Promise<T | null>,
): Promise<Tried<T>> {
  const { store } = dashboard
  const address = addressOf(dashboard, visit)
  const now = dashboard.now()
  const pair = subjectOf('pair', email, address)
  const account = subjectOf('account', email)
  const network = subjectOf('address', address)
  const subjects = [
    { subject: pair, attemptsMax: ATTEMPTS_MAX },
    { subject: account, attemptsMax: ATTEMPTS_OF_ACCOUNT_MAX },
    { subject: network, attemptsMax: ATTEMPTS_OF_ADDRESS_MAX },
  ]
  const blocking = await store.beginAttempt(subjects, now - WINDOW, now)
  if (blocking !== null) return waitFor(visit, blocking + WINDOW - now)

  let result: T | null
  try {
    result = await body()
  } catch (error) {
    // Nothing was tried after all.
    await afterwards(dashboard, () => store.forgetAttempts([], [pair, account, network]), undefined)
    throw error
  }
  if (result !== null) {
    await afterwards(dashboard, () => store.forgetAttempts([pair], [account, network]), undefined)
    return { outcome: 'good', result }
  }
  const user = await store.findUser(email)
  await audit(dashboard, visit, 'sign-in refused', user?.id ?? null, email.slice(0, 254))
  return {
    outcome: 'refused',
    status: 401,
    message: 'The e-mail address or the password is wrong.',
  }
}

/** The same for making accounts, of which one address gets so many; null if it may. */
export async function refuseManyAccounts(
  dashboard: Dashboard,
  visit: Visit,
): Promise<{ status: 429; message: string } | null> {
  const now = dashboard.now()
  const subject = subjectOf('sign-up', addressOf(dashboard, visit))
  const subjects = [{ subject, attemptsMax: ACCOUNTS_MAX }]
  const blocking = await dashboard.store.beginAttempt(subjects, now - WINDOW, now)
  if (blocking === null) return null
  const minutes = sayWait(visit, blocking + WINDOW - now)
  return { status: 429, message: `Too many accounts were made from here. Try again in ${minutes}.` }
}

/** Why the signed-in user has to wait with what can be done so many times only; null if it may be done now. */
export async function refuseMany(
  dashboard: Dashboard,
  visit: Visit,
  act: string,
  attemptsMax: number,
): Promise<string | null> {
  const now = dashboard.now()
  const subjects = [{ subject: subjectOf(act, visit.get('session').userId), attemptsMax }]
  const blocking = await dashboard.store.beginAttempt(subjects, now - WINDOW, now)
  if (blocking === null) return null
  return `That was done too often. Try again in ${sayWait(visit, blocking + WINDOW - now)}.`
}

function waitFor<T>(visit: Visit, wait: Instant): Tried<T> {
  const minutes = sayWait(visit, wait)
  return {
    outcome: 'refused',
    status: 429,
    message: `Too many wrong passwords. Try again in ${minutes}.`,
  }
}

/** Says how long to wait in a header, and returns it in words. */
function sayWait(visit: Visit, wait: Instant): string {
  visit.header('Retry-After', String(Math.ceil(wait / 1_000_000)))
  const minutes = Math.ceil(wait / 60_000_000)
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
}

/** What is counted under is nobody's address in clear. */
function subjectOf(...parts: string[]): string {
  return hash('sha256', parts.join('\n'), 'hex')
}
