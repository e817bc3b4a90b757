import { type AccountsDashboard, attempt, isConnected } from './attempts.ts'
import { html } from 'hono/html'
import {
  actorOf,
  type App,
  browserOf,
  type Context,
  cookieOf,
  fieldOf,
  withCookies,
} from '../../../web/context.ts'
import { showField } from '../../../web/html/form-field.ts'
import { type Notice, showNotFound, showNotice, showPage } from '../../../web/html/page.ts'
import { showOperator } from '../../../web/html/site.ts'
import { type Html, isolated, isolatedText } from '../../../web/html/text.ts'
import { readReturnPath } from '../return-path.ts'
import { returnByLink, sayWhereLink } from './new-link.ts'
import { passwords } from '../../records/passwords.ts'
import type { Oidc } from '../../sign-in/oidc/oidc.ts'

export function addSessionRoutes(app: App, dashboard: AccountsDashboard): void {
  const { database, accounts } = dashboard
  const withPasswords = dashboard.passwords

  app.get('/sign-in', async (c) => {
    if ((await accounts.readSession(cookieOf(c))) !== null) return c.redirect('/dashboard', 303)
    const next = readReturnPath(c.req.query('next') ?? '')
    // A user who signed out, or whom the provider sent away, stays here.
    if (dashboard.oidc?.isAutomatic && c.req.query('auto') !== '0')
      return c.redirect(providerPath(next), 303)
    if (dashboard.oidc !== null && c.req.query('out') === '1')
      return showSignIn(dashboard, c, { next, notice: sayStillThere(dashboard.oidc) })
    const hasAccounts = !withPasswords || (await passwords(database).hasAccounts())
    return showSignIn(dashboard, c, { next, ...(hasAccounts ? {} : { notice: NO_ACCOUNT }) })
  })

  app.post('/sign-in', async (c) => {
    if (!withPasswords) return showNotFound(c)
    const email = fieldOf(c, 'email').trim()
    const next = readReturnPath(fieldOf(c, 'next'))
    // Look malformed addresses up too, so they take as long. PostgreSQL rejects control characters.
    const address = email.toLowerCase().replace(/\p{Cc}/gu, '')
    const tried = await attempt(dashboard, c, address, () =>
      accounts.signIn(address, fieldOf(c, 'password'), browserOf(dashboard, c)),
    )
    if (tried.outcome === 'good') {
      return withCookies(c.redirect(next, 303), tried.result.cookies)
    }
    const { status, message } = tried
    return showSignIn(dashboard, c, { next, email, status, error: message })
  })

  app.post('/sign-out', async (c) => {
    const path = await signedOutPath(dashboard, c)
    const cookies = await accounts.signOut(cookieOf(c), actorOf(dashboard, c))
    return withCookies(c.redirect(path, 303), cookies)
  })
}

/** The sign-in page for a user who signs out. Call it while the session has not ended. */
export async function signedOutPath(dashboard: AccountsDashboard, c: Context): Promise<string> {
  const { accounts, oidc } = dashboard
  const session = oidc && (await accounts.readSession(cookieOf(c)))
  if (session && (await isConnected(dashboard, session.userId))) return '/sign-in?auto=0&out=1'
  return oidc?.isAutomatic ? '/sign-in?auto=0' : '/sign-in'
}

function sayStillThere({ name }: Oidc): Notice {
  return {
    kind: 'note',
    text: html`You are signed out here. If you signed in with ${isolated(name)}, you are still signed in there. Sign out there, too, if others use this browser.`,
  }
}

function providerPath(next: string): string {
  return next === '/dashboard' ? '/sign-in/oidc' : `/sign-in/oidc?next=${encodeURIComponent(next)}`
}

const NO_ACCOUNT: Notice = {
  kind: 'note',
  text: 'No account exists yet. To create the first one, open the setup link in the log of this service.',
}

interface SignInPage {
  next: string
  email?: string
  notice?: Notice
  error?: string
  status?: 200 | 401 | 429
}

export function showSignIn(dashboard: AccountsDashboard, c: Context, page: SignInPage) {
  const { oidc } = dashboard
  const { next, notice, status = 200 } = page
  const isByLink = oidc === null && !dashboard.passwords
  if (isByLink) returnByLink(dashboard, c, next)
  return showPage(c, {
    title: 'Sign in',
    status,
    width: 'auth',
    lead: 'List your game servers and give your programs access to them.',
    body: html`${notice === undefined ? '' : showNotice(notice)}
${oidc === null ? '' : html`<p><a class="button primary" href="${providerPath(next)}">Sign in with ${isolatedText(oidc.name)}</a></p>`}
${dashboard.passwords ? showForm(page) : ''}
${isByLink ? html`<section class="card"><p>You sign in here with a link, and need no password. ${sayWhereLink(dashboard, c)}</p></section>` : ''}
${hintFor(dashboard, notice)}
<p class="hint">Do you write a program? Read the <a href="/docs">API documentation</a>.</p>`,
  })
}

function showForm({ next, email = '', error }: SignInPage): Html {
  return html`<form class="card" method="post" action="/sign-in">
<input type="hidden" name="next" value="${next}">
${showField({
  name: 'email',
  label: 'Email',
  type: 'email',
  value: email,
  autocomplete: 'username',
  required: true,
  hasFocus: email === '',
})}
${showField({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  error,
})}
<button class="primary">Sign in</button>
</form>`
}

/** The notice about the setup link is for the operator, who has no one to ask. */
function hintFor(
  { signUp, passwords: withPasswords, site }: AccountsDashboard,
  notice: Notice | undefined,
) {
  if (notice === NO_ACCOUNT && signUp === 'closed') return html``
  const operator = showOperator(site)
  const account = signUp === 'open' ? html`No account yet? <a href="/sign-up">Create one</a>. ` : ''
  if (withPasswords)
    return html`<p class="hint">${account}Forgot your password? Ask ${operator} for a sign-in link.${signUp === 'open' ? '' : ' New here? Ask for an account.'}</p>`
  return html`<p class="hint">${account}Can’t sign in? Ask ${operator}.</p>`
}
