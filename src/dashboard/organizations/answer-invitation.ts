import type { AuditStore } from '../../listing/accounts/audit.ts'
import { type InvitationStore, oldestInvitation } from '../../listing/invitation.ts'
import type { OrganizationStore } from '../../listing/organization.ts'
import type { App, Dashboard } from '../context.ts'
import { notice, showNotFound } from '../html/page.ts'
import { audit } from '../request/audit.ts'
import { showOrganizations, TOO_MANY } from './list.ts'

/** Lets users accept or decline their invitations. */
export function addInvitationRoutes(
  app: App,
  dashboard: Dashboard<OrganizationStore & InvitationStore & AuditStore>,
): void {
  const { store, now } = dashboard

  app.post('/dashboard/organizations/:id/accept', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const accepted = await store.acceptInvitation(userId, id, oldestInvitation(now()), now())
    if (accepted === 'not found') return showNotFound(c)
    if (accepted === 'too many')
      return showOrganizations(dashboard, c, { status: 409, message: notice('bad', TOO_MANY) })
    await audit(dashboard, c, 'invitation accepted', userId, id)
    return c.redirect(`/dashboard/organizations/${id}?done=joined`, 303)
  })

  app.post('/dashboard/organizations/:id/decline', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    if (!(await store.declineInvitation(userId, id))) return showNotFound(c)
    await audit(dashboard, c, 'invitation declined', userId, id)
    return c.redirect('/dashboard/organizations?done=declined', 303)
  })
}
