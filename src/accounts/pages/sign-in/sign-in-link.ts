import type { AccountsDashboard } from './attempts.ts'
import { html } from 'hono/html'
import { complaintAboutPassword } from '../../passwords.ts'
import { hashToken } from '../../token.ts'
import {
  actorOf,
  type App,
  browserOf,
  type Context,
  cookieOf,
  fieldOf,
  withCookies,
} from '../../../web/context.ts'
import { showUsername } from '../../../web/html/form-field.ts'
import { showPage } from '../../../web/html/page.ts'
import { isolated } from '../../../web/html/text.ts'
import { sayWhereLink, takeReturn } from './new-link.ts'
import { showNewPassword, signInAndOpen } from './new-password.ts'
import { signInLinks } from '../../records/sign-in-links.ts'

/**
 * The link of `server-listing user link`. Opening it spends nothing, because mail scanners and chat
 * programs open links, too. The form sets a password and signs the user in. Without passwords it
 * only signs the user in.
 */
export function addSignInLinkRoutes(app: App, dashboard: AccountsDashboard): void {
  const { database, accounts, now } = dashboard

  app.get('/link/:token', async (c) => {
    const user = await signInLinks(database).findSignInLink(hashOf(c), now())
    if (user === null) return refuse(dashboard, c)
    return dashboard.passwords ? showForm(c, user.email) : showButton(c, user.email)
  })

  app.post('/link/:token', async (c) => {
    const found = await signInLinks(database).findSignInLink(hashOf(c), now())
    if (found === null) return refuse(dashboard, c)
    if (!dashboard.passwords) {
      const signedIn = await accounts.useLink(hashOf(c), browserOf(dashboard, c))
      if (signedIn === null) return refuse(dashboard, c)
      const { next, cookies } = takeReturn(dashboard, cookieOf(c))
      return withCookies(c.redirect(next, 303), [...signedIn.cookies, ...cookies])
    }
    const password = fieldOf(c, 'password')
    const complaint = await complaintAboutPassword(password, found.email)
    if (complaint !== null) return showForm(c, found.email, `The password must ${complaint}.`)
    const user = await signInLinks(database).useSignInLink(
      hashOf(c),
      await accounts.hashPassword(password),
      actorOf(dashboard, c),
    )
    if (user === null) return refuse(dashboard, c)
    return signInAndOpen(dashboard, c, { email: user.email, password }, '/dashboard')
  })
}

function hashOf(c: Context): string {
  return hashToken(c.req.param('token') ?? '')
}

function refuse(dashboard: AccountsDashboard, c: Context): Promise<Response> {
  return showPage(c, {
    title: 'This link no longer works',
    status: 404,
    width: 'form',
    body: html`<p>A sign-in link works once and for a limited time. ${
      dashboard.passwords || dashboard.oidc !== null
        ? html`Ask the operator for a new one, or <a href="/sign-in">sign in</a>.`
        : html`${sayWhereLink(dashboard, c)} If you are signed in already, <a href="/dashboard">go to the dashboard</a>.`
    }</p>`,
  })
}

/** The way in without passwords. */
function showButton(c: Context, email: string): Promise<Response> {
  return showPage(c, {
    title: 'Sign in',
    width: 'auth',
    lead: html`This link works once. It signs in ${isolated(email)}.`,
    body: html`<form class="card" method="post" action="${c.req.path}">
<button class="primary">Sign in</button>
</form>`,
  })
}

function showForm(c: Context, email: string, error?: string): Promise<Response> {
  return showPage(c, {
    title: 'Set a new password',
    status: error === undefined ? 200 : 422,
    width: 'auth',
    lead: html`This link works once. It signs in ${isolated(email)} and ends all other sessions.`,
    body: html`<form class="card" method="post" action="${c.req.path}">
${showUsername(email)}
${showNewPassword({ hasFocus: true, error })}
<button class="primary">Set the password and sign in</button>
</form>`,
  })
}
