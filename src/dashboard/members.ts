import { INVITATION_KEPT, MEMBERS_MAX } from '../listing/invitation.ts'
import { checkEmail } from '../listing/user.ts'
import { refuseMany } from './attempts.ts'
import { showOrganization } from './organization.ts'
import { showNotFound } from './page.ts'
import { sentence } from './sign-up.ts'
import { type App, audit, type Dashboard, fieldOf } from './visit.ts'

/** Invitations sent in a quarter of an hour. */
const INVITED_MAX = 20

/** An organization's members: invited and removed by its owners; everybody may leave but the last owner. */
export function addMemberRoutes(app: App, dashboard: Dashboard): void {
  const { store, now } = dashboard

  app.post('/dashboard/organizations/:id/members', async (visit) => {
    const { userId } = visit.get('session')
    const id = visit.req.param('id')
    const email = fieldOf(visit, 'email').trim()
    const refuse = (emailError: string) => showOrganization(dashboard, visit, { email, emailError })
    const often = await refuseMany(dashboard, visit, 'member', INVITED_MAX)
    if (often !== null) return refuse(often)
    const checked = checkEmail(email)
    if ('complaint' in checked) return refuse(sentence(checked.complaint))
    const since = now() - INVITATION_KEPT
    // Nothing is said of whether anybody has an account with this address.
    const invited = await store.invite(userId, id, checked.email, since, now())
    if (invited === 'not found') return showNotFound(visit)
    if (invited === 'member') return refuse('They are a member already.')
    if (invited === 'full')
      return refuse(
        `An organization has at most ${MEMBERS_MAX} members, those who are invited among them.`,
      )
    await audit(dashboard, visit, 'invited', userId, id)
    return visit.redirect(`/dashboard/organizations/${id}?done=invited`, 303)
  })

  app.post('/dashboard/organizations/:id/members/withdraw', async (visit) => {
    const { userId } = visit.get('session')
    const id = visit.req.param('id')
    if (!(await store.withdrawInvitation(userId, id, fieldOf(visit, 'invited'))))
      return showNotFound(visit)
    return visit.redirect(`/dashboard/organizations/${id}?done=withdrawn`, 303)
  })

  app.post('/dashboard/organizations/:id/members/remove', async (visit) => {
    const { userId } = visit.get('session')
    const id = visit.req.param('id')
    const member = fieldOf(visit, 'member')
    if (!(await store.removeMember(userId, id, member))) return showNotFound(visit)
    await audit(dashboard, visit, 'member removed', userId, member)
    const next = member === userId ? '' : `/${id}?done=removed`
    return visit.redirect(`/dashboard/organizations${next}`, 303)
  })

  app.post('/dashboard/organizations/:id/give-back', async (visit) => {
    const { userId } = visit.get('session')
    const id = visit.req.param('id')
    if ((await store.giveBackServers(userId, id)) === null) return showNotFound(visit)
    await audit(dashboard, visit, 'servers given back', userId, id)
    return visit.redirect(`/dashboard/organizations/${id}?done=given-back`, 303)
  })
}
