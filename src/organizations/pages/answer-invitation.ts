import { html } from 'hono/html'
import { oldestInvitation } from '../invitation.ts'
import { actorOf, type App, type Dashboard } from '../../web/context.ts'
import { isolated } from '../../web/html/text.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { LIST_PATH, showOrganizations, TOO_MANY } from './list.ts'
import { INVITATION_GONE, showGone } from './notices.ts'
import { findMembership } from './organization.ts'
import { showQuestion } from './question.ts'
import { invitations } from '../records/invitations.ts'

/** Lets users accept or decline their invitations. */
export function addInvitationRoutes(app: App, dashboard: Dashboard): void {
  const { database, now } = dashboard

  app.post('/dashboard/organizations/:id/accept', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const accepted = await invitations(database).acceptInvitation(
      userId,
      id,
      oldestInvitation(now()),
      actorOf(dashboard, c),
    )
    // The first copy of a form that was sent twice made the user a member.
    const isMember = accepted === 'joined' || (await findMembership(database, c)) !== null
    if (accepted === 'not found' && !isMember) return showGone(c, INVITATION_GONE)
    if (accepted === 'too many')
      return showOrganizations(dashboard, c, {
        status: 409,
        notice: { kind: 'bad', text: TOO_MANY },
      })
    tellNext(dashboard, c, 'joined')
    return c.redirect(`${LIST_PATH}/${id}`, 303)
  })

  app.get('/dashboard/organizations/:id/decline', async (c) => {
    const { userId } = c.get('session')
    const open = await invitations(database).listInvitations(userId, oldestInvitation(now()))
    const invitation = open.find((one) => one.organization_id === c.req.param('id'))
    if (invitation === undefined) return showGone(c, INVITATION_GONE)
    return showQuestion(c, {
      title: 'Decline an invitation',
      asks: html`Decline the invitation to ${isolated(invitation.name)}?`,
      consequences: [
        html`${isolated(invitation.invited_by)} invited you. To join later, you need a new invitation.`,
      ],
      button: 'Decline',
      back: LIST_PATH,
    })
  })

  app.post('/dashboard/organizations/:id/decline', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    if (!(await invitations(database).declineInvitation(userId, id, actorOf(dashboard, c))))
      return showGone(c, INVITATION_GONE)
    tellNext(dashboard, c, 'declined')
    return c.redirect(LIST_PATH, 303)
  })
}
