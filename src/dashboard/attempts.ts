import { hash } from 'node:crypto'
import type { AttemptSubject } from '../listing/accounts.ts'
import type { Instant } from '../listing/instant.ts'
import {
  addressOf,
  afterwards,
  audit,
  cookieOf,
  type Dashboard,
  fieldOf,
  type Visit,
} from './visit.ts'

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
 * Lets somebody try to sign in, if not too many did: to this account from this address, and for each of the two, in the
 * database. An attempt is counted before it is made, so that many at once are no way around it. `body` returns null
 * for a wrong password.
 */
export async function attempt<T>(
  dashboard: Dashboard,
  visit: Visit,
  email: string,
  body: () => Promise<T | null>,
): Promise<Tried<T>> {
  const address = addressOf(dashboard, visit)
  const own = { subject: subjectOf('pair', email, address), attemptsMax: ATTEMPTS_MAX }
  return attemptUnder(dashboard, visit, email, own, body, [
    { subject: subjectOf('account', email), attemptsMax: ATTEMPTS_OF_ACCOUNT_MAX },
    { subject: subjectOf('address', address), attemptsMax: ATTEMPTS_OF_ADDRESS_MAX },
  ])
}

/**
 * Lets who is signed in try their password once more. Counted for this session alone: what strangers try, or another
 * session, does not stand in the way.
 */
export async function attemptAgain(dashboard: Dashboard, visit: Visit): Promise<Tried<true>> {
  const { userId, email, startedAt } = visit.get('session')
  const subject = subjectOf('session', userId, String(startedAt))
  const own = { subject, attemptsMax: ATTEMPTS_MAX }
  return attemptUnder(dashboard, visit, email, own, async () => {
    const isRight = dashboard.accounts.isPassword(cookieOf(visit), fieldOf(visit, 'password'))
    return (await isRight) ? true : null
  })
}

/** A good attempt clears what was counted under `own`, and takes itself back from the others. */
async function attemptUnder<T>(
  dashboard: Dashboard,
  visit: Visit,
  email: string,
  own: AttemptSubject,
  body: () => Promise<T | null>,
  others: readonly AttemptSubject[] = [],
): Promise<Tried<T>> {
  const { store } = dashboard
  const now = dashboard.now()
  const blocking = await store.beginAttempt([own, ...others], now - WINDOW, now)
  if (blocking !== null) return waitFor(visit, blocking + WINDOW - now)

  const otherSubjects = others.map(({ subject }) => subject)
  let result: T | null
  try {
    result = await body()
  } catch (error) {
    // Nothing was tried after all.
    const taken = [own.subject, ...otherSubjects]
    await afterwards(dashboard, () => store.forgetAttempts([], taken), undefined)
    throw error
  }
  if (result !== null) {
    const clear = () => store.forgetAttempts([own.subject], otherSubjects)
    await afterwards(dashboard, clear, undefined)
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
