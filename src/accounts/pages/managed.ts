import { html } from 'hono/html'
import type { Session } from '../../model/session.ts'
import type { Context } from '../../web/context.ts'
import { showPage } from '../../web/html/page.ts'
import { showSite } from '../../web/html/site.ts'
import type { Html } from '../../web/html/text.ts'

/*
 * Accounts of the operator's own site, which are those with an external id. The site decides about
 * their address and their end, so that the two never contradict each other.
 */

export function isManaged({ externalId }: Session): boolean {
  return externalId !== null
}

export function showManaged(c: Context): Html {
  return html`<p>This account is managed at ${showSite(c.get('site'))}. Change its email address or delete it there.</p>`
}

/** The answer to a form or page for what only the site can do. */
export function refuseManaged(c: Context): Promise<Response> {
  return showPage(c, {
    title: 'This account is managed elsewhere',
    status: 403,
    width: 'form',
    body: html`${showManaged(c)}
<p>Nothing was changed. <a href="/dashboard/account">Back to your account</a></p>`,
  })
}
