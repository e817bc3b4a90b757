import { html } from 'hono/html'
import type { Invitation } from '../invitation.ts'
import { type Html, NAME_BYTES, truncated } from '../../web/html/text.ts'

/** Shows the user's invitations, and what accepting one reveals. */
export function showInvitations(invitations: readonly Invitation[]): Html {
  return html`<section><h2>You are invited</h2><p class="hint">${CONSEQUENCE}</p>
<ul class="rows">${invitations.map(showInvitation)}</ul></section>`
}

const CONSEQUENCE = `Members see each other’s email addresses and the organization’s servers. Only you can move your servers there.`

function showInvitation(
  { organization_id: id, name, invited_by }: Invitation,
  index: number,
): Html {
  const path = `/dashboard/organizations/${id}`
  return html`<li><div><strong id="o${index}">${truncated(name, NAME_BYTES)}</strong> <span class="hint">by ${truncated(invited_by, NAME_BYTES)}</span></div>
<form class="row" method="post" action="${path}/accept"><button class="primary" id="a${index}" aria-labelledby="a${index} o${index}">Accept</button>
<button formaction="${path}/decline" id="d${index}" aria-labelledby="d${index} o${index}">Decline</button></form>
`
}
