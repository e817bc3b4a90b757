import { oldestInvitation } from '../../listing/invitation.ts'
import type { App, Dashboard } from '../context.ts'
import { audit } from '../request/audit.ts'
import { tellNext } from '../request/next-notice.ts'
import { showOrganizations, TOO_MANY } from './list.ts'
import { INVITATION_GONE, showGone } from './notices.ts'
import { findMembership } from './organization.ts'
import { invitations } from '../../management/invitations.ts'

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
      now(),
    )
    // The first copy of a form that was sent twice made the user a member.
    const isMember = accepted === 'joined' || (await findMembership(database, c)) !== null
    if (accepted === 'not found' && !isMember) return showGone(c, INVITATION_GONE)
    if (accepted === 'too many')
      return showOrganizations(dashboard, c, {
        status: 409,
        notice: { kind: 'bad', text: TOO_MANY },
      })
    if (accepted === 'joined') await audit(dashboard, c, 'invitation accepted', userId, id)
    tellNext(dashboard, c, 'joined')
    return c.redirect(`/dashboard/organizations/${id}`, 303)
  })

  app.post('/dashboard/organizations/:id/decline', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    if (!(await invitations(database).declineInvitation(userId, id)))
      return showGone(c, INVITATION_GONE)
    await audit(dashboard, c, 'invitation declined', userId, id)
    tellNext(dashboard, c, 'declined')
    return c.redirect('/dashboard/organizations', 303)
  })
}
