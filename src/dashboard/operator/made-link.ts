import { html } from 'hono/html'
import type { AccountsDashboard } from '../../accounts/pages/sign-in/attempts.ts'
import { issueSignInLink } from '../../accounts/records/issued-links.ts'
import { LINK_HOURS } from '../../accounts/sign-in-links.ts'
import { nameOf } from '../../accounts/user.ts'
import type { UserDetails } from '../../directory/records/operator.ts'
import { showBlock } from '../../keys/pages/snippets.ts'
import type { Actor } from '../../model/audit.ts'
import type { Context } from '../../web/context.ts'
import { showNotice, showPage, showUnchanged } from '../../web/html/page.ts'
import { isolated, showInstant } from '../../web/html/text.ts'
import { USERS_PATH } from './users.ts'

/** Makes a link as `user link` does, and shows it. */
export async function showLink(
  { database, dashboardUrl, passwords }: AccountsDashboard,
  c: Context,
  user: UserDetails,
  actor: Actor,
): Promise<Response> {
  const path = `${USERS_PATH}/${user.id}`
  const link = await issueSignInLink(database, user.id, LINK_HOURS, actor, passwords)
  if (link === null)
    return showUnchanged(
      c,
      html`This account was disabled or removed meanwhile, or lost its email address. <a href="${path}">Go to the account</a>`,
    )
  const name = isolated(nameOf(user))
  return showPage(c, {
    title: 'A sign-in link',
    width: 'form',
    body: html`${showNotice(COPY_NOW)}
<section class="card" data-secret><h2>${name}</h2>
${showBlock({ id: 'link', label: 'Sign-in link', code: `${dashboardUrl}${link.path}` })}
<p>The link signs in ${name} once, until ${showInstant(link.expiresAt)}${passwords ? '. Its page asks for a new password and ends all other sessions' : ', for one session. It sets no password'}.</p>
<p>Until then the link is worth the account. Send it over a channel that only this person reads, not in a group chat.</p></section>
<p><a class="button primary" href="${path}">Done</a></p>`,
  })
}

const COPY_NOW = {
  kind: 'note',
  text: 'Copy the link now. This is the only time it is shown: we do not store it. Earlier links of this user no longer work.',
} as const
