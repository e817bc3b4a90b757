import { createMiddleware } from 'hono/factory'
import { html } from 'hono/html'
import { MINUTE_US } from '../../../model/instant.ts'
import { isFresh, SESSION_FRESH_US } from '../../sessions.ts'
import { type Context, type Env, fieldOf } from '../../../web/context.ts'
import { showField, showUsername } from '../../../web/html/form-field.ts'
import { showPage } from '../../../web/html/page.ts'
import { type Html, isolated } from '../../../web/html/text.ts'
import { passwords } from '../../records/passwords.ts'
import { returnPathOf } from '../return-path.ts'
import { requireSession } from '../session.ts'
import { type AccountsDashboard, confirmPassword, isConnected } from './attempts.ts'
import { returnByLink, sayWhereLink } from './new-link.ts'

/** How the user of a session can show that it is really them. */
interface Confirmation {
  password: boolean
  /** The name of the identity provider; null if the user does not sign in with it. */
  provider: string | null
  /** True if the session is too old. */
  isOld: boolean
}

/** When it is asked: once the session is not fresh, or each time from a user with a password. */
export type AskedFrom = 'not fresh' | 'each time'

interface Refused {
  status: 403 | 429
  message?: string
}

/**
 * Lets a form through if the session suffices, or if the form has the right password. Otherwise a
 * page asks, and its form sends the same fields with the password. `purpose` follows "Enter your
 * password to".
 */
export function requireConfirmation(
  dashboard: AccountsDashboard,
  purpose: string,
  from: AskedFrom = 'not fresh',
) {
  const readSessionAgain = requireSession(dashboard)
  return createMiddleware<Env>(async (c, next) => {
    const needed = await findNeeded(dashboard, c, from)
    if (needed === null) return next()
    if (!needed.password || fieldOf(c, 'password') === '') return ask(dashboard, c, needed, purpose)
    const confirmed = await confirmPassword(dashboard, c)
    if ('message' in confirmed) return ask(dashboard, c, needed, purpose, confirmed)
    // The session may have ended while the service checked the password.
    return readSessionAgain(c, next)
  })
}

/** What the user has to show. Null if the session suffices. */
async function findNeeded(
  dashboard: AccountsDashboard,
  c: Context,
  from: AskedFrom,
): Promise<Confirmation | null> {
  const { database, oidc, now } = dashboard
  const session = c.get('session')
  const isOld = !isFresh(session, now())
  if (!isOld && from === 'not fresh') return null
  const { userId } = session
  const hasPassword =
    dashboard.passwords && (await passwords(database).findPasswordHash(userId)) !== null
  if (!isOld && !hasPassword) return null
  // Another sign-in makes the session fresh, which does not suffice for a password each time.
  const isEnough = from === 'not fresh' || !hasPassword
  const isOffered = oidc !== null && isEnough && (await isConnected(dashboard, userId))
  return { password: hasPassword, provider: isOffered ? oidc.name : null, isOld }
}

function ask(
  dashboard: AccountsDashboard,
  c: Context,
  { password, provider, isOld }: Confirmation,
  purpose: string,
  { status, message }: Refused = { status: 403 },
): Promise<Response> {
  const page = returnPathOf(c)
  const isByLink = !password && provider === null
  if (isByLink) returnByLink(dashboard, c, page)
  const sent = [...c.get('form')].filter(([name]) => name !== 'password')
  return showPage(c, {
    title: 'Is it you?',
    status,
    width: 'form',
    body: html`<form class="card" method="post" action="${c.req.path}">
<p>${isOld ? `You signed in more than ${SESSION_FRESH_US / MINUTE_US} minutes ago. ` : ''}${isByLink ? html`Sign in again to ${purpose}. ${sayWhereLink(dashboard, c)} It leads back to this page.` : sayHow(password, provider, purpose)}</p>
${
  password
    ? html`${sent.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${showUsername(c.get('session').name)}
${showField({
  name: 'password',
  label: 'Your password',
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  hasFocus: true,
  error: message,
})}`
    : ''
}
<div class="row">${password ? html`<button class="primary">Continue</button>` : ''}
${provider === null ? '' : html`<a class="button" href="/sign-in/oidc/confirm?next=${encodeURIComponent(page)}">Sign in with ${isolated(provider)} again</a>`}
<a class="button" href="${page}">Cancel</a></div>
${provider === null ? '' : html`<p class="hint">If ${isolated(provider)} shows an error instead, ${signInAnew(isolated(provider))}</p>`}
</form>`,
  })
}

function sayHow(password: boolean, provider: string | null, purpose: string): Html {
  if (provider === null) return html`Enter your password to ${purpose}.`
  return html`Sign in with ${isolated(provider)} again${password ? ', or enter your password,' : ''} to ${purpose}.`
}

/** The way round for providers that don't ask users who have a session there. Ends a sentence. */
export function signInAnew(provider: Html): Html {
  return html`sign out here and at ${provider}, and sign in again.`
}
