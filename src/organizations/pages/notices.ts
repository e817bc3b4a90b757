import { html } from 'hono/html'
import type { Context, Dashboard } from '../../web/context.ts'
import { type Notice, showUnchanged } from '../../web/html/page.ts'
import { takeTold } from '../../web/request/next-notice.ts'

/** What the next page of organizations says after an act. */
const NOTICES = {
  'organization-created': 'Organization created.',
  'organization-deleted': 'Organization deleted.',
  'member-added': 'This person is a member now, and finds the organization after signing in.',
  'member-removed': 'Member removed. Their servers stay in this organization.',
  left: 'You left the organization. Servers that you registered there stay in it.',
}

export function takeOrganizationNotice(dashboard: Dashboard, c: Context): Notice | undefined {
  const told = takeTold(dashboard, c, Object.keys(NOTICES) as (keyof typeof NOTICES)[])
  return told === null ? undefined : { kind: 'good', text: NOTICES[told.outcome] }
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
