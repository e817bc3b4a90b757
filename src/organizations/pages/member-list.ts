import { html } from 'hono/html'
import { nameOf } from '../../accounts/user.ts'
import { DAY_US } from '../../model/instant.ts'
import { INVITATION_KEPT_US, type Invited, MEMBERS_MAX, oldestInvitation } from '../invitation.ts'
import type { Member, Membership } from '../organization.ts'
import type { Context, Dashboard, Site } from '../../web/context.ts'
import { showField } from '../../web/html/form-field.ts'
import { showNotFound, showPage } from '../../web/html/page.ts'
import { pill } from '../../web/html/parts.ts'
import { showSite } from '../../web/html/site.ts'
import {
  type Html,
  isolatedText,
  LINE_COLUMNS,
  shortIsolatedText,
  truncated,
} from '../../web/html/text.ts'
import { takeMembersNotice } from './notices.ts'
import { findMembership, showTabs } from './organization.ts'
import { organizations } from '../records/organizations.ts'
import { invitations } from '../records/invitations.ts'

/** The path of this page from itself. A full path in each row would make the page long. */
const MEMBERS = 'members'

interface MembersPage {
  email?: string
  emailError?: string
  status?: 200 | 422 | 429
}

/** Shows an organization's members to each other. Other users get a 404. */
export async function showMembersPage(
  dashboard: Dashboard,
  c: Context,
  { email, emailError, status = 200 }: MembersPage,
): Promise<Response> {
  const { database, now, site } = dashboard
  const { userId } = c.get('session')
  const organization = await findMembership(database, c)
  if (organization === null) return showNotFound(c)
  const { id, name, role } = organization
  const members = await organizations(database).listMembers(userId, id)
  const invited = await invitations(database).listInvited(userId, id, oldestInvitation(now()))
  return showPage(c, {
    title: isolatedText(name),
    tabTitle: shortIsolatedText(name),
    lead: 'Members see the servers of this organization and each other’s email addresses.',
    errors: { email: emailError },
    status,
    notice: takeMembersNotice(dashboard, c),
    body: html`${showTabs(id, 'members')}
<section><h2 class="unseen">Members</h2>
${showMembers(organization, members, userId)}
${invited.length > 0 ? showInvited(invited) : ''}</section>
${site.managesServers ? html`<p class="hint">A member who leaves or is removed leaves their servers in this organization. Move servers at ${showSite(site)}.</p>` : ''}
${role === 'owner' ? showInviteForm(site, id, { email: email ?? c.req.query('email') ?? '', emailError }) : ''}`,
  })
}

/** All members, each with a link to the page that asks before it removes the member. */
function showMembers({ role }: Membership, members: readonly Member[], userId: string): Html {
  const owners = members.filter((member) => member.role === 'owner').length
  const shownMembers = members.slice(0, MEMBERS_MAX)
  return html`<ul class="rows">
${shownMembers.map((member, index) => {
  const { user_id, role: own } = member
  const isSelf = user_id === userId
  const canEnd = (role === 'owner' || isSelf) && !(own === 'owner' && owners === 1)
  return html`<li><div id="m${index}">${truncated(nameOf({ ...member, id: user_id }), LINE_COLUMNS)}${own === 'owner' ? html` ${pill('owner')}` : ''}</div>
${canEnd ? html`<a class="button" href="${MEMBERS}/${user_id}/remove" id="e${index}" aria-labelledby="e${index} m${index}">${isSelf ? 'Leave…' : 'Remove…'}</a>` : ''}
`
})}</ul>
${members.length > MEMBERS_MAX ? html`<p class="hint">${sayMore(members.length - MEMBERS_MAX)}</p>` : ''}`
}

function sayMore(members: number): string {
  return members === 1 ? '1 more member is not shown.' : `${members} more members are not shown.`
}

function showInvited(invited: readonly Invited[]): Html {
  return html`<ul class="rows">
${invited.map(showInvitedRow)}</ul>`
}

function showInvitedRow({ id, email }: Invited, index: number): Html {
  return html`<li><div id="i${index}">${truncated(email, LINE_COLUMNS)} ${pill('invited')}</div>
<a class="button" href="${MEMBERS}/${id}/withdraw" id="w${index}" aria-labelledby="w${index} i${index}">Withdraw…</a>
`
}

function showInviteForm(
  site: Site,
  id: string,
  { email, emailError }: { email: string; emailError: string | undefined },
): Html {
  return html`<section class="split"><div><h2>Invite a member</h2>
<p class="hint">${site.managesServers ? '' : 'Members can move their own servers here. '}We don’t send email. The member sees the invitation after signing in, for ${INVITATION_KEPT_US / DAY_US} days.</p></div>
<form class="card" method="post" action="/dashboard/organizations/${id}/members">
${showField({
  name: 'email',
  label: 'Email',
  type: 'email',
  value: email,
  required: true,
  hint: 'The address that the new member signs in with.',
  error: emailError,
})}
<button class="primary">Invite</button>
</form></section>`
}
