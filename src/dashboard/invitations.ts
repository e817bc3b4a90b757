import { html } from 'hono/html'
import type { Invitation } from '../listing/invitation.ts'
import { type Html, NAME_BYTES, notice, shownShort } from './page.ts'

/** Invitations, for whom they are meant: with what is given away by accepting one. */
export function showInvitations(invitations: readonly Invitation[]): Html {
  return html`<section class="card"><h2>You are invited</h2><p>${CONSEQUENCE}</p>
<ul class="rows">${invitations.map(showInvitation)}</ul></section>`
}

const CONSEQUENCE = `Members see each other’s e-mail addresses and the servers that any of them puts there. Nobody can put yours there but you.`

function showInvitation({ organization_id: id, name, invited_by }: Invitation): Html {
  const path = `/dashboard/organizations/${id}`
  return html`<li><div><strong>${shownShort(name, NAME_BYTES)}</strong> <span class="hint">by ${shownShort(invited_by, NAME_BYTES)}</span></div>
<form method="post" action="${path}/accept"><button>Accept</button>
<button formaction="${path}/decline">Decline</button></form>
`
}

/** A word of them on other pages. */
export function showInvitationNote(invitations: readonly Invitation[]): Html | '' {
  const [first] = invitations
  if (first === undefined) return ''
  const more = invitations.length - 1
  return notice(
    'note',
    html`${shownShort(first.name, NAME_BYTES)}${more > 0 ? ` and ${more} more` : ''} invited you. <a href="/dashboard/organizations">Accept or decline</a>`,
  )
}
