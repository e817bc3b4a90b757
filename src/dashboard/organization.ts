import { html } from 'hono/html'
import { INVITATION_KEPT, type Invited, MEMBERS_MAX } from '../listing/invitation.ts'
import { GIVEN_BACK_MAX, type Member, type Membership } from '../listing/organization.ts'
import { showField } from './form-field.ts'
import { type Html, notice, showNotFound, shownShort, showPage, visible } from './page.ts'
import { readSearch, showSearched } from './servers.ts'
import type { Dashboard, Visit } from './visit.ts'

const DONE = new Map([
  ['made', 'The organization is made.'],
  ['joined', 'You are a member now.'],
  ['invited', 'The invitation is there. No mail is sent: tell them to sign in and look.'],
  ['withdrawn', 'The invitation is taken back.'],
  ['removed', 'The member is removed. The servers they registered are still here.'],
  ['given-back', 'The servers are drafts of those who registered them.'],
  ['changed', 'The server is changed.'],
  ['registered', 'The server is registered.'],
  ['deleted', 'The server is deleted.'],
])

/** Bytes of an e-mail address in a list. */
const EMAIL_BYTES = 56

/** One organization, as a member sees it; for others it is not there. */
export async function showOrganization(
  { store, now }: Dashboard,
  visit: Visit,
  { email, emailError }: { email?: string; emailError?: string },
): Promise<Response> {
  const { userId } = visit.get('session')
  const organizations = await store.listOrganizations(userId)
  const organization = organizations.find(({ id }) => id === visit.req.param('id'))
  if (organization === undefined) return showNotFound(visit)
  const { id, name } = organization
  const isOwner = organization.role === 'owner'
  const asked = readSearch(visit)
  const servers = await store.searchOrganizationServers(userId, id, asked)
  const members = await store.listMembers(userId, id)
  const invited = await store.listInvited(userId, id, now() - INVITATION_KEPT)
  const left = isOwner ? await store.countLeftServers(id) : 0
  const done = DONE.get(visit.req.query('done') ?? '')
  const none = html`<p class="empty">No servers under this organization. Open one of <a href="/dashboard/servers">your servers</a> to move it here, or <a href="/dashboard/servers/new?organization_id=${id}">register one</a>.</p>`
  return showPage(visit, {
    title: visible(name),
    status: emailError === undefined ? 200 : 422,
    body: html`${done === undefined ? '' : notice('good', done)}
<section><h2>Servers</h2>
<p>The API never returns these.</p>
${showSearched(`/dashboard/organizations/${id}`, asked, servers, none, userId)}
${left > 0 ? showGiveBack(id, left) : ''}</section>
<section><h2>Members</h2>
${showMembers(organization, members, userId)}
${invited.length > 0 ? showInvited(id, invited) : ''}
${isOwner ? showInviteForm(id, email ?? visit.req.query('email') ?? '', emailError) : ''}</section>
${isOwner && organization.servers === 0 ? showRemoveForm(id) : ''}`,
  })
}

function showGiveBack(id: string, left: number): Html {
  const [servers, them] = left === 1 ? ['server is', 'it'] : ['servers are', 'them']
  return html`<form class="card" method="post" action="/dashboard/organizations/${id}/give-back">
<p>${left}${left === GIVEN_BACK_MAX ? ' or more' : ''} ${servers} of people who are no members any more.
Given back, the API returns ${them} for their own keys, as drafts.</p>
<button class="secondary">Give ${them} back</button></form>`
}

/** All in one form: each button says who is meant. */
function showMembers({ id, role }: Membership, members: readonly Member[], userId: string): Html {
  const owners = members.filter((member) => member.role === 'owner').length
  const shownMembers = members.slice(0, MEMBERS_MAX)
  return html`<form method="post" action="/dashboard/organizations/${id}/members/remove"><ul class="rows">
${shownMembers.map(({ user_id, email, role: own }, index) => {
  const isSelf = user_id === userId
  const canEnd = (role === 'owner' || isSelf) && !(own === 'owner' && owners === 1)
  return html`<li><div id="m${index}">${shownShort(email, EMAIL_BYTES)}${own === 'owner' ? html` <span class="state">owner</span>` : ''}</div>
${canEnd ? html`<button name="member" value="${user_id}" aria-describedby="m${index}">${isSelf ? 'Leave' : 'Remove'}</button>` : ''}
`
})}</ul></form>
${members.length > MEMBERS_MAX ? html`<p class="hint">and ${members.length - MEMBERS_MAX} others</p>` : ''}`
}

function showInvited(id: string, invited: readonly Invited[]): Html {
  return html`<form method="post" action="/dashboard/organizations/${id}/members/withdraw"><ul class="rows">
${invited.map(showInvitedRow)}</ul></form>`
}

function showInvitedRow({ id, email }: Invited, index: number): Html {
  return html`<li><div id="i${index}">${shownShort(email, EMAIL_BYTES)} <span class="state">invited</span></div>
<button name="invited" value="${id}" aria-describedby="i${index}">Take back</button>
`
}

function showInviteForm(id: string, email: string, error: string | undefined): Html {
  return html`<form class="card" method="post" action="/dashboard/organizations/${id}/members">
<h2>Invite somebody</h2>
${showField({
  name: 'email',
  label: 'E-mail address',
  type: 'email',
  value: email,
  required: true,
  hint: `The one they sign in with here. No mail is sent: they see the invitation when they sign in, for 14 days. Members see the servers and each other’s addresses, and can put their own servers here.`,
  error,
})}
<button>Invite</button>
</form>`
}

function showRemoveForm(id: string): Html {
  return html`<form class="card" method="post" action="/dashboard/organizations/${id}/remove"><h2>Delete this organization</h2><p>It has no servers, so it can be deleted. This cannot be undone.</p><button class="danger">Delete the organization</button></form>`
}
