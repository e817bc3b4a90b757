import type { AccountsDashboard } from './attempts.ts'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../../passwords.ts'
import { browserOf, type Context, withCookies } from '../../../web/context.ts'
import { showField } from '../../../web/html/form-field.ts'
import type { Html } from '../../../web/html/text.ts'
import { bestEffort } from '../../../web/request/best-effort.ts'

interface NewPassword {
  name?: string
  label?: string
  /** Follows the limits of the length. */
  advice?: string
  hasFocus?: boolean
  error?: string | undefined
}

/** The field in which a user chooses a password. */
export function showNewPassword({ name = 'password', advice = '', ...field }: NewPassword): Html {
  return showField({
    label: 'New password',
    ...field,
    name,
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    lengthMin: PASSWORD_LENGTH_MIN,
    hint: `${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters.${advice}`,
  })
}

/** Signs the user in with the password just chosen. If that fails, the next page asks for it. */
export async function signInAndOpen(
  dashboard: AccountsDashboard,
  c: Context,
  { email, password }: { email: string; password: string },
  path: string,
): Promise<Response> {
  const signIn = () => dashboard.accounts.signIn(email, password, browserOf(dashboard, c))
  const signedIn = await bestEffort(dashboard, signIn, null)
  return withCookies(c.redirect(path, 303), signedIn?.cookies ?? [])
}
