import { html } from 'hono/html'
import { MINUTE_US } from '../../../model/instant.ts'
import { isFresh, SESSION_FRESH_US } from '../../sessions.ts'
import { type Context, fieldOf } from '../../../web/context.ts'
import { showField, showUsername } from '../../../web/html/form-field.ts'
import { type Html, isolated } from '../../../web/html/text.ts'
import { passwords } from '../../records/passwords.ts'
import { type AccountsDashboard, confirmPassword, isConnected } from './attempts.ts'

/** How the user of a session can show that it is really them. */
export interface Confirmation {
  password: boolean
  /** The name of the identity provider; null if the user does not sign in with it. */
  provider: string | null
  /** Why it is asked; null if it is always asked. */
  reason: string | null
}

/** When it is asked: once the session is not fresh, or each time from a user with a password. */
export type AskedFrom = 'not fresh' | 'each time'

const SIGNED_IN_LONG_AGO = `You signed in more than ${SESSION_FRESH_US / MINUTE_US} minutes ago.`

/** What the user has to show before an important act. Null if the session suffices. */
export async function neededConfirmation(
  dashboard: AccountsDashboard,
  c: Context,
  from: AskedFrom = 'not fresh',
): Promise<Confirmation | null> {
  const { database, oidc, now } = dashboard
  const session = c.get('session')
  const isRecent = isFresh(session, now())
  if (isRecent && from === 'not fresh') return null
  const reason = isRecent ? null : SIGNED_IN_LONG_AGO
  if (oidc === null && dashboard.passwords) return { password: true, provider: null, reason }
  const { userId } = session
  const hash = dashboard.passwords ? await passwords(database).findPasswordHash(userId) : null
  if (isRecent && hash === null) return null
  // Another sign-in makes the session fresh, which does not suffice for a password each time.
  const isEnough = from === 'not fresh' || hash === null
  const isOffered = isEnough && (await isConnected(dashboard, userId))
  return { password: hash !== null, provider: isOffered ? oidc!.name : null, reason }
}

/**
 * Null if the session suffices or the form has the right password. Otherwise why the form is
 * refused. `purpose` follows "Enter your password to".
 */
export async function confirmUser(
  dashboard: AccountsDashboard,
  c: Context,
  purpose: string,
  from?: AskedFrom,
): Promise<{ status: 403 | 429; message: string } | null> {
  const needed = await neededConfirmation(dashboard, c, from)
  if (needed === null) return null
  if (!needed.password || fieldOf(c, 'password') === '')
    return {
      status: 403,
      message: [needed.reason, sayHow(needed, purpose)].filter((part) => part !== null).join(' '),
    }
  const confirmed = await confirmPassword(dashboard, c)
  return 'message' in confirmed ? confirmed : null
}

function sayHow({ password, provider }: Confirmation, purpose: string): string {
  if (provider === null) return password ? `Enter your password to ${purpose}.` : ASK_OPERATOR
  return `Sign in with ${provider} again${password ? ', or enter your password,' : ''} to ${purpose}.`
}

const ASK_OPERATOR = 'Ask the operator for a new sign-in link.'

/** The field or the link for it. `next` is the page with the form. */
export function showConfirmation(
  c: Context,
  needed: Confirmation | null,
  next: string,
  error?: string,
): Html | '' {
  if (needed === null) return ''
  const { password, provider, reason } = needed
  const link = `/sign-in/oidc/confirm?next=${encodeURIComponent(next)}`
  return html`${
    password
      ? html`${showUsername(c.get('session').name)}
${showField({
  name: 'password',
  label: 'Your password',
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  ...(reason === null ? {} : { hint: reason }),
  error,
})}`
      : html`<p class="${error === undefined ? 'hint' : 'error'}">${reason ?? ''}${provider === null ? ` ${ASK_OPERATOR}` : ''}</p>`
  }
${
  provider === null
    ? ''
    : html`<p><a href="${link}">Sign in with ${isolated(provider)} again</a></p>
<p class="hint">If ${isolated(provider)} shows an error instead, ${signInAnew(isolated(provider))}</p>`
}`
}

/** The way round for providers that don't ask users who have a session there. Ends a sentence. */
export function signInAnew(provider: Html): Html {
  return html`sign out here and at ${provider}, and sign in again.`
}
