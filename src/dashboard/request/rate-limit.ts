import { hash } from 'node:crypto'
import { MINUTE_US } from '../../listing/instant.ts'
import { ATTEMPT_WINDOW_US, SIGN_UPS_MAX } from '../../listing/accounts/rate-limits.ts'
import type { AttemptStore } from '../../listing/accounts/sign-in-attempts.ts'
import { addressOf, type Context, type Dashboard } from '../context.ts'

/** Limits how many accounts one client address creates. Null if it may create one more now. */
export async function limitSignUps(
  dashboard: Dashboard<AttemptStore>,
  c: Context,
): Promise<{ status: 429; message: string } | null> {
  const now = dashboard.now()
  const subject = subjectOf('sign-up', addressOf(dashboard, c))
  const subjects = [{ subject, attemptsMax: SIGN_UPS_MAX }]
  const blocking = await dashboard.store.beginAttempt(subjects, now - ATTEMPT_WINDOW_US, now)
  if (blocking === null) return null
  const minutes = sayWait(c, blocking + ATTEMPT_WINDOW_US - now)
  return {
    status: 429,
    message: `Too many accounts were created from your network. Try again in ${minutes}.`,
  }
}

/**
 * Limits how often the signed-in user does something. Returns why they have to wait, or null if
 * they do not.
 */
export async function limitUser(
  dashboard: Dashboard<AttemptStore>,
  c: Context,
  action: string,
  attemptsMax: number,
): Promise<string | null> {
  const now = dashboard.now()
  const subjects = [{ subject: subjectOf(action, c.get('session').userId), attemptsMax }]
  const blocking = await dashboard.store.beginAttempt(subjects, now - ATTEMPT_WINDOW_US, now)
  if (blocking === null) return null
  return `Too many attempts. Try again in ${sayWait(c, blocking + ATTEMPT_WINDOW_US - now)}.`
}

/** Sets `Retry-After` and returns the time to wait in words. */
export function sayWait(c: Context, waitUs: number): string {
  c.header('Retry-After', String(Math.ceil(waitUs / 1_000_000)))
  const minutes = Math.ceil(waitUs / MINUTE_US)
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
}

/** Hashed, so that the table holds no email or client address in clear. */
export function subjectOf(...parts: string[]): string {
  return hash('sha256', parts.join('\n'), 'hex')
}
