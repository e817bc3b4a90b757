import { html } from 'hono/html'
import { complaintAboutPassword, PASSWORD_LENGTH_MIN } from '../listing/accounts.ts'
import { checkEmail } from '../listing/user.ts'
import { attemptAgain, refuseMany } from './attempts.ts'
import { showField } from './form-field.ts'
import { type Html, notice, shown, shownInstant, showPage } from './page.ts'
import { withCookies } from './session.ts'
import { sentence } from './sign-up.ts'
import {
  type App,
  afterwards,
  audit,
  cookieOf,
  type Dashboard,
  fieldOf,
  type Visit,
} from './visit.ts'

const AUDIT_SHOWN = 20
/** Tries to change the e-mail address in a quarter of an hour: each tells whether somebody has it. */
const CHANGES_MAX = 20

interface AccountPage {
  message?: Html
  email?: string
  errors?: { email?: string; password?: string; newPassword?: string }
}

/** The user's own account. What gives it away asks for the password again. */
export function addAccountRoutes(app: App, dashboard: Dashboard): void {
  const { store, accounts, now } = dashboard

  app.get('/dashboard/account', (visit) => {
    const message = DONE.get(visit.req.query('done') ?? '')
    const email = visit.req.query('email')
    return showAccount(dashboard, visit, {
      ...(message === undefined ? {} : { message: notice('good', message) }),
      ...(email === undefined ? {} : { email }),
    })
  })

  app.post('/dashboard/account/email', async (visit) => {
    const { userId } = visit.get('session')
    const email = fieldOf(visit, 'email').trim()
    const checked = checkEmail(email)
    if ('complaint' in checked)
      return showAccount(dashboard, visit, {
        email,
        errors: { email: sentence(checked.complaint) },
      })
    const wrong = await wrongPassword(dashboard, visit)
    if (wrong !== null) return showAccount(dashboard, visit, { email, errors: { password: wrong } })
    const often = await refuseMany(dashboard, visit, 'e-mail', CHANGES_MAX)
    if (often !== null) return showAccount(dashboard, visit, { email, errors: { email: often } })
    if (!(await store.changeEmail(userId, checked.email, now()))) {
      const taken = 'Another account has this e-mail address.'
      return showAccount(dashboard, visit, { email, errors: { email: taken } })
    }
    await audit(dashboard, visit, 'e-mail changed', userId, checked.email)
    return visit.redirect('/dashboard/account?done=email', 303)
  })

  app.post('/dashboard/account/password', async (visit) => {
    const { userId, email } = visit.get('session')
    const password = fieldOf(visit, 'new-password')
    const complaint = complaintAboutPassword(password, email)
    const wrong = complaint === null ? await wrongPassword(dashboard, visit) : null
    if (complaint !== null || wrong !== null)
      return showAccount(dashboard, visit, {
        errors: {
          ...(complaint === null ? {} : { newPassword: `The password must ${complaint}.` }),
          ...(wrong === null ? {} : { password: wrong }),
        },
      })
    await store.setPassword(userId, await accounts.hashPassword(password), now())
    await audit(dashboard, visit, 'password changed', userId, email)
    const userAgent = visit.req.header('User-Agent') ?? ''
    const signIn = () => accounts.signIn(email, password, userAgent)
    const cookies = await afterwards(dashboard, signIn, null)
    return withCookies(visit.redirect('/dashboard/account?done=password', 303), cookies ?? [])
  })

  app.post('/dashboard/account/sessions', async (visit) => {
    const { userId, email } = visit.get('session')
    await store.endSessions(userId)
    const cookies = await afterwards(dashboard, () => accounts.signOut(cookieOf(visit)), [])
    await audit(dashboard, visit, 'sign-out everywhere', userId, email)
    return withCookies(visit.redirect('/sign-in', 303), cookies)
  })
}

const DONE = new Map([
  ['email', 'Your e-mail address is changed: sign in with the new one from now on.'],
  ['password', 'Your password is changed, and every other session has ended.'],
])

async function wrongPassword(dashboard: Dashboard, visit: Visit): Promise<string | null> {
  const tried = await attemptAgain(dashboard, visit)
  // Checking takes a while, in which the session may have been ended.
  const session = await dashboard.accounts.readSession(cookieOf(visit))
  if (tried.outcome === 'good')
    return session === null ? 'Your session has ended: sign in again.' : null
  return tried.status === 401 ? 'The password is wrong.' : tried.message
}

async function showAccount(
  { store }: Dashboard,
  visit: Visit,
  { message, email, errors }: AccountPage,
): Promise<Response> {
  const session = visit.get('session')
  const entries = await store.listAudit(session.userId, AUDIT_SHOWN)
  const isAboutEmail = email !== undefined
  return showPage(visit, {
    title: 'Account',
    status: errors === undefined ? 200 : 422,
    body: html`${message ?? ''}
<form class="card" method="post" action="/dashboard/account/email">
<h2>E-mail address</h2>
<p>You sign in as ${shown(session.email)}.</p>
${showField({
  name: 'email',
  label: 'New e-mail address',
  type: 'email',
  value: email ?? '',
  autocomplete: 'email',
  required: true,
  error: errors?.email,
})}
${showPassword('email-password', isAboutEmail ? errors?.password : undefined)}
<button>Change the e-mail address</button>
</form>
<form class="card" method="post" action="/dashboard/account/password">
<h2>Password</h2>
${showField({
  name: 'new-password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
  required: true,
  hint: `At least ${PASSWORD_LENGTH_MIN} characters. Every other session ends.`,
  error: errors?.newPassword,
})}
${showPassword('password-password', isAboutEmail ? undefined : errors?.password)}
<button>Change the password</button>
</form>
<form class="card" method="post" action="/dashboard/account/sessions">
<h2>Sessions</h2>
<p>This session began ${shownInstant(session.startedAt)}. Sessions end by themselves after seven days.</p>
<button class="secondary">Sign out everywhere</button>
</form>
<section><h2>Latest events</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Latest events"><table>
<thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">From</th></tr></thead>
<tbody>${entries.map((entry) => html`<tr><td>${shownInstant(entry.occurred_at)}</td><td>${entry.action}</td><td><code>${entry.address}</code></td></tr>`)}</tbody>
</table></div></section>`,
  })
}

/** The present password. There are two such fields on the page, so each has an id of its own. */
function showPassword(id: string, error: string | undefined): Html {
  return showField({
    id,
    name: 'password',
    label: 'Your present password',
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    error,
  })
}
