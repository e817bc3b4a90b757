import type { AuditStore } from '../../listing/accounts/audit.ts'
import { type InvitationStore, MEMBERS_MAX, oldestInvitation } from '../../listing/invitation.ts'
import type { OrganizationStore } from '../../listing/organization.ts'
import { INVITATIONS_SENT_MAX } from '../../listing/accounts/rate-limits.ts'
import type { ServerSearchStore } from '../../listing/servers/server-search.ts'
import type { AttemptStore } from '../../listing/accounts/sign-in-attempts.ts'
import { checkStoredEmail } from '../../listing/accounts/user.ts'
import { type App, type Dashboard, fieldOf } from '../context.ts'
import { showNotFound } from '../html/page.ts'
import { sentence } from '../html/sentence.ts'
import { audit } from '../request/audit.ts'
import { limitUser } from '../request/rate-limit.ts'
import { showMembersPage } from './member-list.ts'

/** Lets owners invite and remove members, and lets every member except the last owner leave. */
export function addMemberRoutes(
  app: App,
  dashboard: Dashboard<
    OrganizationStore & InvitationStore & ServerSearchStore & AttemptStore & AuditStore
  >,
): void {
  const { store, now } = dashboard

  app.get('/dashboard/organizations/:id/members', (c) => showMembersPage(dashboard, c, {}))

  app.post('/dashboard/organizations/:id/members', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const email = fieldOf(c, 'email').trim()
    const refuse = (emailError: string) => showMembersPage(dashboard, c, { email, emailError })
    const often = await limitUser(dashboard, c, 'member', INVITATIONS_SENT_MAX)
    if (often !== null) return refuse(often)
    const checked = checkStoredEmail(email)
    if ('complaint' in checked) return refuse(sentence(checked.complaint))
    const since = oldestInvitation(now())
    // The answer must not reveal whether an account has this address.
    const invited = await store.invite(userId, id, checked.email, since, now())
    if (invited === 'not found') return showNotFound(c)
    if (invited === 'member') return refuse('This person is already a member.')
    if (invited === 'full')
      return refuse(
        `This organization has reached the limit of ${MEMBERS_MAX} members and invitations.`,
      )
    await audit(dashboard, c, 'invited', userId, id)
    return c.redirect(`/dashboard/organizations/${id}/members?done=invited`, 303)
  })

  app.post('/dashboard/organizations/:id/members/withdraw', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    if (!(await store.withdrawInvitation(userId, id, fieldOf(c, 'invited')))) return showNotFound(c)
    await audit(dashboard, c, 'invitation withdrawn', userId, id)
    return c.redirect(`/dashboard/organizations/${id}/members?done=withdrawn`, 303)
  })

  app.post('/dashboard/organizations/:id/members/remove', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const member = fieldOf(c, 'member')
    if (!(await store.removeMember(userId, id, member))) return showNotFound(c)
    await audit(dashboard, c, 'member removed', userId, member)
    const next = member === userId ? '' : `/${id}/members?done=removed`
    return c.redirect(`/dashboard/organizations${next}`, 303)
  })

  app.post('/dashboard/organizations/:id/return', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    if ((await store.returnServers(userId, id)) === null) return showNotFound(c)
    await audit(dashboard, c, 'servers given back', userId, id)
    return c.redirect(`/dashboard/organizations/${id}?done=returned`, 303)
  })
}
