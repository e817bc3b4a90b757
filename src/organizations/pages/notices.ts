import { html } from 'hono/html'
import type { Organization } from '../organization.ts'
import type { Context, Dashboard } from '../../web/context.ts'
import { type Notice, showUnchanged } from '../../web/html/page.ts'
import { type Html, truncated } from '../../web/html/text.ts'
import { takeTold } from '../../web/request/next-notice.ts'

/*
 * What the pages of organizations say after an action.
 */

const OF_LIST = {
  declined: 'Invitation declined.',
  left: 'You left the organization. Servers that you registered there stay in it.',
  'organization-deleted': 'Organization deleted.',
}
const OF_ORGANIZATION: Record<string, (name: Html) => Html | string> = {
  created: (name) => html`<b>${name}</b> was created.`,
  joined: (name) => html`You joined <b>${name}</b>.`,
}
const OF_MEMBERS = {
  invited: 'Invitation created. We don’t send email, so ask the person to sign in and accept it.',
  withdrawn: 'Invitation withdrawn.',
  removed: 'Member removed. Their servers stay in this organization.',
}

export function takeListNotice(dashboard: Dashboard, c: Context): Notice | undefined {
  return takeText(dashboard, c, OF_LIST)
}

export function takeMembersNotice(dashboard: Dashboard, c: Context): Notice | undefined {
  return takeText(dashboard, c, OF_MEMBERS)
}

export function takeOrganizationNotice(
  dashboard: Dashboard,
  c: Context,
  { name }: Organization,
): Notice | undefined {
  const told = takeTold(dashboard, c, Object.keys(OF_ORGANIZATION))
  if (told === null) return undefined
  return { kind: 'good', text: OF_ORGANIZATION[told.outcome]!(truncated(name)) }
}

function takeText(
  dashboard: Dashboard,
  c: Context,
  texts: Record<string, string>,
): Notice | undefined {
  const told = takeTold(dashboard, c, Object.keys(texts))
  return told === null ? undefined : { kind: 'good', text: texts[told.outcome]! }
}

/** For a form about something that is gone, or that the user may not change. */
export function showGone(c: Context, reason: string): Promise<Response> {
  return showUnchanged(
    c,
    html`${reason} <a href="/dashboard/organizations">Go to your organizations</a>`,
  )
}

/** For a form of an organization that the user has left meanwhile, or that is gone. */
export const ORGANIZATION_GONE =
  'This organization no longer exists, or you are not one of its owners.'
export const NOT_REMOVED = 'This person is no longer a member, or you can’t remove them.'
export const INVITATION_GONE = 'This invitation is no longer open.'
