import { INVITATION_KEPT } from '../listing/invitation.ts'
import { showOrganizations, TOO_MANY } from './organizations.ts'
import { notice, showNotFound } from './page.ts'
import { type App, audit, type Dashboard } from './visit.ts'

/** Invitations are accepted or declined by whom they are for. */
export function addInvitationRoutes(app: App, dashboard: Dashboard): void {
  const { store, now } = dashboard

  app.post('/dashboard/organizations/:id/accept', async (visit) => {
    const { userId } = visit.get('session')
    const id = visit.req.param('id')
    const accepted = await store.acceptInvitation(userId, id, now() - INVITATION_KEPT, now())
    if (accepted === 'not found') return showNotFound(visit)
    if (accepted === 'too many')
      return showOrganizations(dashboard, visit, { status: 409, message: notice('bad', TOO_MANY) })
    await audit(dashboard, visit, 'invitation accepted', userId, id)
    return visit.redirect(`/dashboard/organizations/${id}?done=joined`, 303)
  })

  app.post('/dashboard/organizations/:id/decline', async (visit) => {
    const { userId } = visit.get('session')
    const declined = await store.declineInvitation(userId, visit.req.param('id'))
    if (!declined) return showNotFound(visit)
    return visit.redirect('/dashboard/organizations?done=declined', 303)
  })
}
