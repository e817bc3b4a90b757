import { html } from 'hono/html'
import { MINUTE_US } from '../../model/instant.ts'
import { type Context, fieldOf } from '../../web/context.ts'
import { showField, showUsername } from '../../web/html/form-field.ts'
import type { Html } from '../../web/html/text.ts'
import { isFresh, SESSION_FRESH_US } from '../sessions.ts'
import { type AccountsDashboard, confirmPassword } from './sign-in/attempts.ts'

/*
 * Forms that ask for the password only if the user signed in more than SESSION_FRESH_US ago.
 */

const SIGNED_IN_LONG_AGO = `You signed in more than ${SESSION_FRESH_US / MINUTE_US} minutes ago.`

/**
 * Null if the session is fresh, or the form has the user's password. Otherwise why the form is
 * refused. `purpose` follows "Enter your password to".
 */
export async function refuseOldSession(
  dashboard: AccountsDashboard,
  c: Context,
  purpose: string,
): Promise<{ status: 403 | 429; message: string } | null> {
  if (isFresh(c.get('session'), dashboard.now())) return null
  if (fieldOf(c, 'password') === '')
    return { status: 403, message: `${SIGNED_IN_LONG_AGO} Enter your password to ${purpose}.` }
  const confirmed = await confirmPassword(dashboard, c)
  return 'message' in confirmed ? confirmed : null
}

/** The field for the password. Nothing if the session is fresh. */
export function showPasswordOfOldSession({
  asksPassword,
  passwordError,
  userName,
}: {
  asksPassword: boolean
  passwordError?: string | undefined
  userName: string
}): Html | '' {
  if (!asksPassword) return ''
  return html`${showUsername(userName)}
${showField({
  name: 'password',
  label: 'Your password',
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  hint: SIGNED_IN_LONG_AGO,
  error: passwordError,
})}`
}
