import { html } from 'hono/html'
import { nameOf } from '../../accounts/user.ts'
import { MEMBERS_ADDED_MAX } from '../../accounts/rate-limits.ts'
import { checkEmail } from '../../model/email.ts'
import { countOf } from '../../model/text.ts'
import { actorOf, type App, type Context, type Dashboard, fieldOf } from '../../web/context.ts'
import { sentence } from '../../web/html/sentence.ts'
import { isolated } from '../../web/html/text.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { limitUser } from '../../accounts/pages/sign-in/rate-limit.ts'
import {
  canEnd,
  type Member,
  type Membership,
  MEMBERS_MAX,
  ORGANIZATIONS_MAX,
} from '../organization.ts'
import { LIST_PATH } from './list.ts'
import { showMembersPage } from './member-list.ts'
import { ORGANIZATION_GONE, showGone } from './notices.ts'
import { findMembership } from './organization.ts'
import { showQuestion } from '../../web/html/question.ts'
import { members } from '../records/members.ts'

/** Lets owners add and remove members, and lets every member except the last owner leave. */
export function addMemberRoutes(app: App, dashboard: Dashboard): void {
  const { database } = dashboard

  app.get('/dashboard/organizations/:id/members', (c) => showMembersPage(dashboard, c, {}))

  app.post('/dashboard/organizations/:id/members', async (c) => {
    const { userId } = c.get('session')
    const id = c.req.param('id')
    const email = fieldOf(c, 'email').trim()
    const refuse = (emailError: string, status: 422 | 429 = 422) =>
      showMembersPage(dashboard, c, { email, emailError, status })
    // Each attempt reveals whether an account has the address.
    const often = await limitUser(dashboard, c, 'member', MEMBERS_ADDED_MAX)
    if (often !== null) return refuse(often, 429)

    const checked = checkEmail(email)
    if ('complaint' in checked) return refuse(sentence(checked.complaint))
    const added = await members(database).addMember(
      userId,
      id,
      checked.email,
      actorOf(dashboard, c),
    )
    if (added === 'not found') return showGone(c, ORGANIZATION_GONE)
    if (added !== 'added' && added !== 'member') return refuse(REFUSALS[added])
    tellNext(dashboard, c, 'member-added')
    return c.redirect(`${LIST_PATH}/${id}/members`, 303)
  })

  app.get('/dashboard/organizations/:id/members/:member/remove', async (c) => {
    const { userId } = c.get('session')
    const organization = await findMembership(database, c)
    if (organization === null) return showGone(c, NOT_REMOVED)
    const known = await members(database).listMembers(userId, organization.id)
    const member = known.find(({ user_id }) => user_id === c.req.param('member'))
    if (member === undefined || !canEnd(known, member.user_id, userId))
      return showGone(c, NOT_REMOVED)
    return askToEnd(c, organization, member)
  })

  app.post('/dashboard/organizations/:id/members/:member/remove', async (c) => {
    const { userId } = c.get('session')
    const { id, member } = c.req.param()
    if (!(await members(database).removeMember(userId, id, member, actorOf(dashboard, c))))
      return showGone(c, NOT_REMOVED)
    const isSelf = member === userId
    tellNext(dashboard, c, isSelf ? 'left' : 'member-removed')
    return c.redirect(isSelf ? LIST_PATH : `${LIST_PATH}/${id}/members`, 303)
  })
}

const REFUSALS = {
  'no account':
    'No active account has this address. Ask the person for the address that they sign in with.',
  full: `This organization has reached the limit of ${MEMBERS_MAX} members.`,
  'too many': `This person is in ${ORGANIZATIONS_MAX} organizations already, which is the limit.`,
}
const NOT_REMOVED = 'This person is no longer a member, or you can’t remove them.'

/** Asks before a member leaves or is removed. */
function askToEnd(c: Context, { id, name }: Membership, member: Member): Promise<Response> {
  const { user_id, servers } = member
  const isSelf = user_id === c.get('session').userId
  const who = isolated(nameOf({ ...member, id: user_id }))
  return showQuestion(c, {
    title: isSelf ? 'Leave an organization' : 'Remove a member',
    asks: isSelf ? html`Leave ${isolated(name)}?` : html`Remove ${who} from ${isolated(name)}?`,
    consequences: [
      html`${who} can no longer open it, until an owner adds the address again.`,
      servers > 0 &&
        html`The organization keeps ${countOf(servers, 'server')} that ${who} registered there. The API returns none of its servers.`,
      servers > 0 &&
        !c.get('site').managesServers &&
        html`Only ${who} can make such a server personal again${isSelf ? '. Do that before you leave.' : ', also later.'}`,
    ],
    button: isSelf ? 'Leave' : 'Remove member',
    back: `${LIST_PATH}/${id}/members`,
  })
}
