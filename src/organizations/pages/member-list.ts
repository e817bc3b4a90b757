import { html } from 'hono/html'
import { ATTEMPT_WINDOW_US, MEMBERS_ADDED_MAX } from '../../accounts/rate-limits.ts'
import { nameOf } from '../../accounts/user.ts'
import { MINUTE_US } from '../../model/instant.ts'
import { countOf } from '../../model/text.ts'
import { canEnd, type Member, MEMBERS_MAX } from '../organization.ts'
import type { Context, Dashboard } from '../../web/context.ts'
import { showField } from '../../web/html/form-field.ts'
import { showNotFound, showPage } from '../../web/html/page.ts'
import { pill } from '../../web/html/parts.ts'
import { showSite } from '../../web/html/site.ts'
import { type Html, isolated, isolatedText } from '../../web/html/text.ts'
import { takeDone } from '../../web/request/next-notice.ts'
import { ORGANIZATION_DONE } from './notices.ts'
import { findMembership, showTabs } from './organization.ts'
import { members } from '../records/members.ts'

interface MembersPage {
  email?: string
  emailError?: string
  status?: 200 | 422 | 429
}

/** Shows an organization's members to each other. Other users get a 404. */
export async function showMembersPage(
  dashboard: Dashboard,
  c: Context,
  { email = '', emailError, status = 200 }: MembersPage,
): Promise<Response> {
  const { database, site } = dashboard
  const { userId } = c.get('session')
  const organization = await findMembership(database, c)
  if (organization === null) return showNotFound(c)
  const { id, name, role } = organization
  const known = await members(database).listMembers(userId, id)
  return showPage(c, {
    title: isolatedText(name),
    lead: 'The API never returns these servers. Members see them, and each other’s email addresses.',
    errors: { email: emailError },
    status,
    notice: takeDone(dashboard, c, ORGANIZATION_DONE),
    body: html`${showTabs(id, 'members')}
<section><h2 class="unseen">Members</h2>
${showMembers(known, userId)}</section>
${site.managesServers ? html`<p class="hint">A member who leaves or is removed leaves their servers in this organization. Move servers at ${showSite(site)}.</p>` : ''}
${role === 'owner' ? showAddForm(id, email, emailError) : ''}`,
  })
}

/** All members, each with a link to the page that asks before it removes the member. */
function showMembers(members: readonly Member[], userId: string): Html {
  const more = members.length - MEMBERS_MAX
  return html`<ul class="rows">
${members.slice(0, MEMBERS_MAX).map((member, index) => {
  const { user_id, role } = member
  // A full path in each row would make the page long.
  return html`<li><div id="m${index}">${isolated(nameOf({ ...member, id: user_id }))}${role === 'owner' ? html` ${pill('owner')}` : ''}</div>
${canEnd(members, user_id, userId) ? html`<a class="button" href="members/${user_id}/remove" id="e${index}" aria-labelledby="e${index} m${index}">${user_id === userId ? 'Leave…' : 'Remove…'}</a>` : ''}
`
})}</ul>
${more > 0 ? html`<p class="hint">${countOf(more, 'more member')} not shown.</p>` : ''}`
}

function showAddForm(id: string, email: string, error: string | undefined): Html {
  return html`<section class="split"><div><h2>Add a member</h2>
<p class="hint">The person is a member at once and can leave. None of their personal servers changes. The answer tells whether an account has the address, so you have ${MEMBERS_ADDED_MAX} attempts in ${ATTEMPT_WINDOW_US / MINUTE_US} minutes.</p></div>
<form class="card" method="post" action="/dashboard/organizations/${id}/members">
${showField({
  name: 'email',
  label: 'Email',
  type: 'email',
  value: email,
  required: true,
  hint: 'The address that the person signs in with.',
  error,
})}
<button class="primary">Add member</button>
</form></section>`
}
