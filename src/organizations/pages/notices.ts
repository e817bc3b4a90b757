import { html } from 'hono/html'
import type { Context } from '../../web/context.ts'
import { showUnchanged } from '../../web/html/page.ts'

/** What the next page of organizations says after an act. */
export const ORGANIZATION_DONE = {
  'organization-created': 'Organization created.',
  'organization-deleted': 'Organization deleted.',
  'member-added': 'This person is a member now, and finds the organization after signing in.',
  'member-removed': 'Member removed. Their servers stay in this organization.',
  left: 'You left the organization. Servers that you registered there stay in it.',
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
