import { hash } from 'node:crypto'
import { createMiddleware } from 'hono/factory'
import { html } from 'hono/html'
import { MINUTE_US } from '../../../model/instant.ts'
import { ATTEMPT_WINDOW_US, SIGN_UPS_MAX } from '../../rate-limits.ts'
import { type AttemptSubject, signInAttempts } from '../../records/sign-in-attempts.ts'
import { countOf } from '../../../model/text.ts'
import { addressOf, type Context, type Dashboard, type Env } from '../../../web/context.ts'
import { showPage } from '../../../web/html/page.ts'

/** Limits how many accounts one client address creates. Null if it may create one more now. */
export async function limitSignUps(dashboard: Dashboard, c: Context): Promise<string | null> {
  const subject = subjectOf('sign-up', addressOf(dashboard, c))
  const wait = await takeAttempt(dashboard, c, [{ subject, attemptsMax: SIGN_UPS_MAX }])
  if (wait === null) return null
  return `Too many accounts were created from your network. Try again in ${wait}.`
}

/** Limits how often the signed-in user sends a form. */
export function limitForms(dashboard: Dashboard, action: string, attemptsMax: number) {
  return createMiddleware<Env>(async (c, next) => {
    const often = await limitUser(dashboard, c, action, attemptsMax)
    if (often === null) return next()
    const body = html`<p>${often} Nothing was changed.</p>`
    return showPage(c, { title: 'Too many attempts', status: 429, width: 'form', body })
  })
}

/**
 * Limits how often the signed-in user does something. Returns why they have to wait, or null if
 * they do not.
 */
export async function limitUser(
  dashboard: Dashboard,
  c: Context,
  action: string,
  attemptsMax: number,
): Promise<string | null> {
  const subject = subjectOf(action, c.get('session').userId)
  const wait = await takeAttempt(dashboard, c, [{ subject, attemptsMax }])
  return wait === null ? null : `Too many attempts. Try again in ${wait}.`
}

/**
 * Counts an attempt under every subject and returns null. If a subject has reached its limit,
 * counts nothing, sets `Retry-After` and returns the time to wait in words.
 */
export async function takeAttempt(
  { database, now }: Dashboard,
  c: Context,
  subjects: readonly AttemptSubject[],
): Promise<string | null> {
  const at = now()
  const blocking = await signInAttempts(database).beginAttempt(subjects, at - ATTEMPT_WINDOW_US, at)
  if (blocking === null) return null
  const waitUs = blocking + ATTEMPT_WINDOW_US - at
  c.header('Retry-After', String(Math.ceil(waitUs / 1_000_000)))
  return countOf(Math.ceil(waitUs / MINUTE_US), 'minute')
}

/** Hashed, so that the table holds no email or client address in clear. */
export function subjectOf(...parts: string[]): string {
  return hash('sha256', parts.join('\n'), 'hex')
}
