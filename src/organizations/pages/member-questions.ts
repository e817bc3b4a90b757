import { html } from 'hono/html'
import { nameOf } from '../../accounts/user.ts'
import { countOf } from '../../model/text.ts'
import type { App, Context, Dashboard } from '../../web/context.ts'
import { isolated } from '../../web/html/text.ts'
import { oldestInvitation } from '../invitation.ts'
import type { Membership, RemovableMember } from '../organization.ts'
import { invitations } from '../records/invitations.ts'
import { organizations } from '../records/organizations.ts'
import { LIST_PATH } from './list.ts'
import { INVITATION_GONE, NOT_REMOVED, showGone } from './notices.ts'
import { findMembership } from './organization.ts'
import { showQuestion } from './question.ts'

/** The pages that ask before a member leaves or is removed, or an invitation is withdrawn. */
export function addMemberQuestions(app: App, { database, now }: Dashboard): void {
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
        'The API returns none of its servers. Before you leave, make those personal again that your programs need.',
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
        'The API returns none of its servers. Only this person can make theirs personal again.',
    ],
    button: 'Remove member',
    back: `${LIST_PATH}/${id}/members`,
  })
}
