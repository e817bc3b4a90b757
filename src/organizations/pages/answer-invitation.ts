import { oldestInvitation } from '../invitation.ts'
import { actorOf, type App, type Dashboard } from '../../web/context.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { showOrganizations, TOO_MANY } from './list.ts'
import { INVITATION_GONE, showGone } from './notices.ts'
import { findMembership } from './organization.ts'
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
    return c.redirect(`/dashboard/organizations/${id}`, 303)
  })

  app.post('/dashboard/organizations/:id/decline', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    if (!(await invitations(database).declineInvitation(userId, id, actorOf(dashboard, c))))
      return showGone(c, INVITATION_GONE)
    tellNext(dashboard, c, 'declined')
    return c.redirect('/dashboard/organizations', 303)
  })
}
