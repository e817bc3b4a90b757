import { MEMBERS_MAX, oldestInvitation } from '../invitation.ts'
import { INVITATIONS_SENT_MAX } from '../../accounts/rate-limits.ts'
import { checkEmail } from '../../model/email.ts'
import { actorOf, type App, type Dashboard, fieldOf } from '../../web/context.ts'
import { sentence } from '../../web/html/sentence.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { limitUser } from '../../accounts/pages/sign-in/rate-limit.ts'
import { showMembersPage } from './member-list.ts'
import { addMemberQuestions } from './member-questions.ts'
import { INVITATION_GONE, NOT_REMOVED, ORGANIZATION_GONE, showGone } from './notices.ts'
import { invitations } from '../records/invitations.ts'
import { organizations } from '../records/organizations.ts'

/** Lets owners invite and remove members, and lets every member except the last owner leave. */
export function addMemberRoutes(app: App, dashboard: Dashboard): void {
  const { database, now } = dashboard

  app.get('/dashboard/organizations/:id/members', (c) => showMembersPage(dashboard, c, {}))
  addMemberQuestions(app, dashboard)

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

  app.post('/dashboard/organizations/:id/members/:invitation/withdraw', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const [invited, actor] = [c.req.param('invitation'), actorOf(dashboard, c)]
    if (!(await invitations(database).withdrawInvitation(userId, id, invited, actor)))
      return showGone(c, INVITATION_GONE)
    tellNext(dashboard, c, 'withdrawn')
    return c.redirect(`/dashboard/organizations/${id}/members`, 303)
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
}
