import { checkEmail } from '../listing/user.ts'
import { refuseMany } from './attempts.ts'
import { showOrganization } from './organizations.ts'
import { showNotFound } from './page.ts'
import { sentence } from './sign-up.ts'
import { type App, type Dashboard, fieldOf } from './visit.ts'

/** Tries to add a member in a quarter of an hour: each tells whether an address has an account. */
const ADDED_MAX = 20

/** An organization's members: added and removed by its owners; everybody may leave but the last owner. */
export function addMemberRoutes(app: App, dashboard: Dashboard): void {
  const { store } = dashboard

  app.post('/dashboard/organizations/:id/members', async (visit) => {
    const id = visit.req.param('id')
    const email = fieldOf(visit, 'email').trim()
    const often = await refuseMany(dashboard, visit, 'member', ADDED_MAX)
    if (often !== null) return showOrganization(dashboard, visit, { email, emailError: often })
    const checked = checkEmail(email)
    // Asked first, so that who is no owner hears the same about any address.
    const address = 'email' in checked ? checked.email : ''
    const added = await store.addMember(visit.get('session').userId, id, address)
    if (added === 'not found') return showNotFound(visit)
    if (added === 'added') return visit.redirect(`/dashboard/organizations/${id}?done=added`, 303)
    const emailError =
      'complaint' in checked
        ? sentence(checked.complaint)
        : 'Nobody with this e-mail address has an account here.'
    return showOrganization(dashboard, visit, { email, emailError })
  })

  app.post('/dashboard/organizations/:id/members/:member/remove', async (visit) => {
    const { userId } = visit.get('session')
    const { id, member } = visit.req.param()
    if (!(await store.removeMember(userId, id, member))) return showNotFound(visit)
    const next = member === userId ? '' : `/${id}?done=removed`
    return visit.redirect(`/dashboard/organizations${next}`, 303)
  })
}
