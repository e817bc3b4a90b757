import { html } from 'hono/html'
import { HOUR_US } from '../../../model/instant.ts'
import type { Context } from '../../../web/context.ts'
import { showOperator, showSite } from '../../../web/html/site.ts'
import type { Html } from '../../../web/html/text.ts'
import { LINK_HOURS } from '../../sign-in-links.ts'
import { hostCookie } from '../../sign-in/host-cookie.ts'
import { readReturnPath } from '../return-path.ts'
import type { AccountsDashboard } from './attempts.ts'

/*
 * A user without a password comes by a sign-in link. A site or an operator makes the link and knows
 * no page of the dashboard, so a cookie leads to the page where the user was.
 */

const cookieFor = ({ dashboardUrl }: AccountsDashboard) =>
  hostCookie(dashboardUrl, 'next', LINK_HOURS * HOUR_US)

/** Lets the next link open in this browser lead to the page. */
export function returnByLink(dashboard: AccountsDashboard, c: Context, next: string): void {
  // In base64url, because the path may have any printable character.
  const value = Buffer.from(next).toString('base64url')
  c.header('Set-Cookie', cookieFor(dashboard).set(value), { append: true })
}

/** The page for a browser that came by a link, and the lines for `Set-Cookie`. */
export function takeReturn(
  dashboard: AccountsDashboard,
  line: string,
): { next: string; cookies: readonly string[] } {
  const cookie = cookieFor(dashboard)
  const [value = ''] = cookie.read(line)
  const next = readReturnPath(Buffer.from(value, 'base64url').toString())
  return { next, cookies: value === '' ? [] : [cookie.remove()] }
}

/** Where the user gets a sign-in link. A site makes links for its own users only. */
export function sayWhereLink({ oidc }: AccountsDashboard, c: Context): Html {
  const site = c.get('site')
  if (c.get('isOperator'))
    return html`Make a sign-in link with <code>server-listing user link</code>, and open it in this browser.`
  if (site.url === null || oidc !== null || c.get('session')?.externalId === null)
    return html`Ask ${showOperator(site)} for a sign-in link, and open it in this browser.`
  return html`Go to ${showSite(site)}, sign in there, and open its link to this dashboard.`
}
