import { html } from 'hono/html'
import { showField } from '../../web/html/form-field.ts'
import type { Html } from '../../web/html/text.ts'

/**
 * The current password. The account page has two of these fields, so each needs its own id
 * and name.
 */
export function showCurrentPassword(
  changed: 'email' | 'password',
  error: string | undefined,
): Html {
  return showField({
    id: `${changed}-password`,
    name: 'password',
    label: html`Current password<span class="unseen"> to change your ${changed}</span>`,
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    error,
  })
}
