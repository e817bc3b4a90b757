import { html } from 'hono/html'
import type { Invitation } from '../../listing/invitation.ts'
import { type Html, NAME_BYTES, truncated } from '../html/text.ts'

/** Shows the user's invitations, and what accepting one reveals. */
export function showInvitations(invitations: readonly Invitation[]): Html {
  return html`<section><h2>You are invited</h2><p class="hint">${CONSEQUENCE}</p>
<ul class="rows">${invitations.map(showInvitation)}</ul></section>`
}

const CONSEQUENCE = `Members see each other’s email addresses and the organization’s servers. Only you can move your servers there.`

function showInvitation({ organization_id: id, name, invited_by }: Invitation): Html {
  const path = `/dashboard/organizations/${id}`
  return html`<li><div><strong>${truncated(name, NAME_BYTES)}</strong> <span class="hint">by ${truncated(invited_by, NAME_BYTES)}</span></div>
<form class="row" method="post" action="${path}/accept"><button class="primary">Accept</button>
<button formaction="${path}/decline">Decline</button></form>
`
}
