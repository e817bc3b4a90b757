import { html } from 'hono/html'
import { nameOf } from '../../accounts/user.ts'
import { MEMBERS_MAX, oldestInvitation } from '../invitation.ts'
import type { Membership, RemovableMember } from '../organization.ts'
import { countOf } from '../../model/text.ts'
import { INVITATIONS_SENT_MAX } from '../../accounts/rate-limits.ts'
import { checkEmail } from '../../model/email.ts'
import { actorOf, type App, type Context, type Dashboard, fieldOf } from '../../web/context.ts'
import { sentence } from '../../web/html/sentence.ts'
import { isolated } from '../../web/html/text.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { limitUser } from '../../accounts/pages/sign-in/rate-limit.ts'
import { LIST_PATH } from './list.ts'
import { showMembersPage } from './member-list.ts'
import { INVITATION_GONE, ORGANIZATION_GONE, showGone } from './notices.ts'
import { findMembership } from './organization.ts'
import { showQuestion } from './question.ts'
import { invitations } from '../records/invitations.ts'
import { organizations } from '../records/organizations.ts'
import { serversOfFormerMembers } from '../../servers/records/former-members.ts'

/** Lets owners invite and remove members, and lets every member except the last owner leave. */
export function addMemberRoutes(app: App, dashboard: Dashboard): void {
  const { database, now, site } = dashboard

  app.get('/dashboard/organizations/:id/members', (c) => showMembersPage(dashboard, c, {}))

  app.post('/dashboard/organizations/:id/members', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const email = fieldOf(c, 'email').trim()
    const refuse = (emailError: string, status: 422 | 429 = 422) =>
      showMembersPage(dashboard, c, { email, emailError, status })
    const often = await limitUser(dashboard, c, 'member', INVITATIONS_SENT_MAX)
    if (often !== null) return refuse(often, 429)
    const checked = checkEmail(email)
    if ('complaint' in checked) return refuse(sentence(checked.complaint))
    const since = oldestInvitation(now())
    // The answer must not reveal whether an account has this address.
    const actor = actorOf(dashboard, c)
    const invited = await invitations(database).invite(userId, id, checked.email, since, actor)
    if (invited === 'not found') return showGone(c, ORGANIZATION_GONE)
    if (invited === 'member') return refuse('This person is already a member.')
    if (invited === 'full')
      return refuse(
        `This organization has reached the limit of ${MEMBERS_MAX} members and invitations.`,
      )
    tellNext(dashboard, c, 'invited')
    return c.redirect(`/dashboard/organizations/${id}/members`, 303)
  })

  app.get('/dashboard/organizations/:id/members/:invitation/withdraw', async (c) => {
    const organization = await findMembership(database, c)
    if (organization === null) return showGone(c, INVITATION_GONE)
    const { id, name } = organization
    const { userId } = c.get('session')
    const open = await invitations(database).listInvited(userId, id, oldestInvitation(now()))
    const invited = open.find((one) => one.id === c.req.param('invitation'))
    if (invited === undefined) return showGone(c, INVITATION_GONE)
    return showQuestion(c, {
      title: 'Withdraw an invitation',
      asks: html`Withdraw the invitation of ${isolated(invited.email)} to ${isolated(name)}?`,
      consequences: ['This person can’t accept it any more. You can invite the address again.'],
      button: 'Withdraw',
      back: `${LIST_PATH}/${id}/members`,
    })
  })

  app.post('/dashboard/organizations/:id/members/:invitation/withdraw', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const [invited, actor] = [c.req.param('invitation'), actorOf(dashboard, c)]
    if (!(await invitations(database).withdrawInvitation(userId, id, invited, actor)))
      return showGone(c, INVITATION_GONE)
    tellNext(dashboard, c, 'withdrawn')
    return c.redirect(`/dashboard/organizations/${id}/members`, 303)
  })

  app.get('/dashboard/organizations/:id/members/:member/remove', async (c) => {
    const organization = await findMembership(database, c)
    if (organization === null) return showGone(c, NOT_REMOVED)
    const { userId } = c.get('session')
    const member = await organizations(database).findRemovableMember(
      userId,
      organization.id,
      c.req.param('member'),
    )
    if (member === null) return showGone(c, NOT_REMOVED)
    return member.user_id === userId
      ? askToLeave(c, organization, member)
      : askToRemove(c, organization, member)
  })

  app.post('/dashboard/organizations/:id/members/:member/remove', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const member = c.req.param('member')
    if (!(await organizations(database).removeMember(userId, id, member, actorOf(dashboard, c))))
      return showGone(c, NOT_REMOVED)
    tellNext(dashboard, c, member === userId ? 'left' : 'removed')
    const next = member === userId ? '' : `/${id}/members`
    return c.redirect(`/dashboard/organizations${next}`, 303)
  })

  if (site.managesServers) return
  app.post('/dashboard/organizations/:id/return', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const returned = await serversOfFormerMembers(database).giveBackServers(
      userId,
      id,
      actorOf(dashboard, c),
    )
    if (returned === null) return showGone(c, ORGANIZATION_GONE)
    tellNext(dashboard, c, 'returned')
    return c.redirect(`/dashboard/organizations/${id}`, 303)
  })
}

function askToLeave(
  c: Context,
  { id, name }: Membership,
  { servers }: RemovableMember,
): Promise<Response> {
  return showQuestion(c, {
    title: 'Leave an organization',
    asks: html`Leave ${isolated(name)}?`,
    consequences: [
      'You can no longer open it. To come back, you need a new invitation.',
      servers > 0 &&
        `The organization keeps ${countOf(servers, 'server')} that you registered there.`,
      servers > 0 &&
        !c.get('site').managesServers &&
        'The API returns none of its servers. An owner can later return yours to you as personal drafts, which the API returns.',
    ],
    button: 'Leave',
    back: `${LIST_PATH}/${id}/members`,
  })
}

function askToRemove(
  c: Context,
  { id, name }: Membership,
  member: RemovableMember,
): Promise<Response> {
  const { user_id, servers } = member
  return showQuestion(c, {
    title: 'Remove a member',
    asks: html`Remove ${isolated(nameOf({ ...member, id: user_id }))} from ${isolated(name)}?`,
    consequences: [
      'This person can no longer open the organization. To come back, they need a new invitation.',
      servers > 0 &&
        `The organization keeps ${countOf(servers, 'server')} that they registered here.`,
      servers > 0 &&
        !c.get('site').managesServers &&
        'The API returns none of its servers. You can later return theirs to them as personal drafts, which the API returns.',
    ],
    button: 'Remove member',
    back: `${LIST_PATH}/${id}/members`,
  })
}

const NOT_REMOVED = 'This person is no longer a member, or you can’t remove them.'
