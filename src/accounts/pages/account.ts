import { type AccountsDashboard, confirmPassword } from './sign-in/attempts.ts'
import { html } from 'hono/html'
import { complaintAboutPassword } from '../passwords.ts'
import { EMAIL_CHANGES_MAX } from '../rate-limits.ts'
import { checkEmail } from '../../model/email.ts'
import {
  actorOf,
  type App,
  browserOf,
  type Context,
  cookieOf,
  fieldOf,
  withCookies,
} from '../../web/context.ts'
import { showField, showUsername } from '../../web/html/form-field.ts'
import { type Notice, showNotice, showPage } from '../../web/html/page.ts'
import { sentence } from '../../web/html/sentence.ts'
import { type Html, isolated } from '../../web/html/text.ts'
import { bestEffort } from '../../web/request/best-effort.ts'
import { takeDone, tellNext } from '../../web/request/next-notice.ts'
import { limitUser } from './sign-in/rate-limit.ts'
import { showCurrentPassword } from './current-password.ts'
import { showEvents, showRefused } from './events.ts'
import { isManaged, refuseManaged, showManaged } from './managed.ts'
import { showNewPassword } from './sign-in/new-password.ts'
import { TAKEN_OR_RESERVED } from './sign-in/sign-up.ts'
import { showSessions } from './session-list.ts'
import { emailChanges } from '../records/email-changes.ts'
import { passwords } from '../records/passwords.ts'

interface Errors {
  email?: string
  password?: string
  newPassword?: string
}

type Refused = 403 | 422 | 429

interface AccountPage {
  notice?: Notice | undefined
  email?: string
  errors?: Errors
  status?: Refused | undefined
}

/**
 * The user's own account. Changes that could hand it to another person ask for the password again.
 */
export function addAccountRoutes(app: App, dashboard: AccountsDashboard): void {
  const { database, accounts } = dashboard

  app.get('/dashboard/account', (c) =>
    showAccount(dashboard, c, { notice: takeDone(dashboard, c, DONE) }),
  )

  // Without passwords the page has neither of these forms.
  if (!dashboard.passwords) return
  app.post('/dashboard/account/email', async (c) => {
    const session = c.get('session')
    if (isManaged(session)) return refuseManaged(c)
    const email = fieldOf(c, 'email').trim()
    const refuse = (errors: Errors, status?: Refused) =>
      showAccount(dashboard, c, { email, errors, status })
    const checked = checkEmail(email)
    if ('complaint' in checked) return refuse({ email: sentence(checked.complaint) })
    const confirmed = await confirmInSession(dashboard, c)
    if ('message' in confirmed) return refuse({ password: confirmed.message }, confirmed.status)
    const often = await limitUser(dashboard, c, 'email', EMAIL_CHANGES_MAX)
    if (often !== null) return refuse({ email: often }, 429)
    // A form that was sent twice.
    if (checked.email === session.email) return toAccount(dashboard, c, 'email-changed')
    // No user can take an operator's address, because nothing verifies addresses.
    const change = dashboard.operators.includes(checked.email)
      ? 'taken'
      : await emailChanges(database).changeEmail(
          session.userId,
          confirmed.checked,
          checked.email,
          actorOf(dashboard, c),
        )
    if (change === 'outdated') return refuse({ password: CHANGED_MEANWHILE })
    if (change === 'taken') return refuse({ email: `${TAKEN_OR_RESERVED} Choose another one.` })
    return toAccount(dashboard, c, c.get('isListed') ? 'operator-changed' : 'email-changed')
  })

  app.post('/dashboard/account/password', async (c) => {
    const { userId, email } = c.get('session')
    const password = fieldOf(c, 'new-password')
    const refuse = (errors: Errors, status?: Refused) =>
      showAccount(dashboard, c, { errors, status })
    const complaint = await complaintAboutPassword(password, email)
    if (complaint !== null) return refuse({ newPassword: `The password must ${complaint}.` })
    const confirmed = await confirmInSession(dashboard, c)
    if ('message' in confirmed) return refuse({ password: confirmed.message }, confirmed.status)
    const hash = await accounts.hashPassword(password)
    const actor = actorOf(dashboard, c)
    if (!(await passwords(database).changePassword(userId, confirmed.checked, hash, actor)))
      return refuse({ password: CHANGED_MEANWHILE })
    const signIn = async () =>
      email === null ? null : accounts.signIn(email, password, browserOf(dashboard, c))
    const signedIn = await bestEffort(dashboard, signIn, null)
    return withCookies(toAccount(dashboard, c, 'password-changed'), signedIn?.cookies ?? [])
  })
}

const BACK_TO_OPERATOR =
  'To see the operator’s page again, put the new address into OPERATORS and restart the service.'

const OPERATOR_CHANGES: Notice = {
  kind: 'note',
  text: `OPERATORS lists your address. After a change you no longer see the operator’s page, and you can’t change back here. ${BACK_TO_OPERATOR}`,
}

const DONE = {
  'email-changed': 'Email address saved. Use it to sign in.',
  'operator-changed': `Email address saved. Use it to sign in. ${BACK_TO_OPERATOR}`,
  'password-changed': 'Password changed. All your other sessions have ended.',
  'sign-in-connected': 'Sign-in connected. You can sign in with it from now on.',
  'sign-in-removed': 'Sign-in removed. All your other sessions have ended.',
  'session-ended': 'Session ended. Its browser has to sign in again.',
}

type Done = keyof typeof DONE

function toAccount(dashboard: AccountsDashboard, c: Context, outcome: Done): Response {
  tellNext(dashboard, c, outcome)
  return c.redirect('/dashboard/account', 303)
}

const CHANGED_MEANWHILE =
  'Another session has just changed your password. This change was not saved. Sign in again.'

/** The stored hash that the current password matches, or why the form is refused. */
async function confirmInSession(
  dashboard: AccountsDashboard,
  c: Context,
): Promise<{ checked: string } | { status: Refused; message: string }> {
  const confirmed = await confirmPassword(dashboard, c)
  if ('message' in confirmed) return confirmed
  // The session may have ended while the service checked the password.
  const session = await dashboard.accounts.readSession(cookieOf(c))
  if (session === null) return { status: 422, message: 'Your session has ended. Sign in again.' }
  return confirmed
}

async function showAccount(
  dashboard: AccountsDashboard,
  c: Context,
  page: AccountPage,
): Promise<Response> {
  const { database, oidc, now } = dashboard
  const { notice, errors, status } = page
  const session = c.get('session')
  const hasPassword =
    dashboard.passwords &&
    (oidc === null || (await passwords(database).findPasswordHash(session.userId)) !== null)
  return showPage(c, {
    title: 'Account',
    status: status ?? (errors === undefined ? 200 : 422),
    lead: 'How you sign in, and what happened in your account.',
    notice,
    body: html`${hasPassword ? showForms(c, page) : html`<p>You sign in as ${isolated(session.name)}.</p>`}
${oidc === null ? '' : (await import('./oidc/connected.ts')).showConnected(dashboard, c, oidc)}
${await showSessions(dashboard, c)}
${await showRefused(database, session.userId, now())}
${await showEvents(database, session.userId, now())}
${isManaged(session) ? '' : DELETION}`,
  })
}

/** What a user with a password can change. */
function showForms(c: Context, { email, errors }: AccountPage): Html {
  const session = c.get('session')
  const isAboutEmail = email !== undefined
  return html`<section class="split"><div><h2>Email</h2>
<p class="hint">You sign in as ${isolated(session.name)}.</p></div>
${isManaged(session) ? html`<section class="card">${showManaged(c)}</section>` : showEmailForm(c, email, errors)}</section>
<section class="split"><div><h2>Password</h2>
<p class="hint">All your other sessions will end.</p></div>
<form class="card" method="post" action="/dashboard/account/password">
${showUsername(session.name)}
${showNewPassword({ name: 'new-password', error: errors?.newPassword })}
${showCurrentPassword('password', isAboutEmail ? undefined : errors?.password)}
<button>Change password</button>
</form></section>`
}

function showEmailForm(c: Context, email: string | undefined, errors: Errors | undefined): Html {
  return html`<form class="card" method="post" action="/dashboard/account/email">
${c.get('isListed') ? showNotice(OPERATOR_CHANGES) : ''}
${showField({
  name: 'email',
  label: 'New email',
  type: 'email',
  value: email ?? '',
  autocomplete: 'email',
  required: true,
  error: errors?.email,
})}
${showUsername(c.get('session').name)}
${showCurrentPassword('email', email === undefined ? undefined : errors?.password)}
<button>Change email</button>
</form>`
}

/** The page that asks before it deletes the account. */
export const DELETE_PATH = '/dashboard/account/delete'

const DELETION = html`<section class="split"><div><h2>Delete account</h2>
<p class="hint">Your keys and personal servers go with it, and organizations without another member.</p></div>
<section class="card"><p>The next page lists what would be deleted, and asks you to confirm.</p>
<p><a class="button" href="${DELETE_PATH}">Delete account…</a></p></section></section>`
