import { html } from 'hono/html'
import type { Invitation } from '../invitation.ts'
import { showNotice } from '../../web/html/page.ts'
import { showAction } from '../../web/html/parts.ts'
import { type Html, truncated } from '../../web/html/text.ts'

/** Points to open invitations from other pages. */
export function showInvitationNote(invitations: readonly Invitation[]): Html | '' {
  const [first] = invitations
  if (first === undefined) return ''
  const more = invitations.length - 1
  return showNotice({
    kind: 'note',
    text: html`${truncated(first.name)}${more > 0 ? ` and ${more} more` : ''} invited you.`,
    followUp: showAction({ href: '/dashboard/organizations', label: 'Accept or decline' }),
  })
}
