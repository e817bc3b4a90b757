import { html } from 'hono/html'
import {
  complaintAboutPassword,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
} from '../listing/accounts.ts'
import { checkEmail, createUser, type User } from '../listing/user.ts'
import { refuseManyAccounts } from './attempts.ts'
import { showField } from './form-field.ts'
import { showNotFound, showPage } from './page.ts'
import { withCookies } from './session.ts'
import { type App, afterwards, audit, type Dashboard, fieldOf, type Visit } from './visit.ts'

/** Making an account: by anybody where sign-up is open, and the first one by the link that the service prints. */
export function addSignUpRoutes(app: App, dashboard: Dashboard): void {
  const { store, signUp } = dashboard

  app.get('/sign-up', (visit) =>
    signUp === 'open' ? showForm(visit, OPEN, {}) : showNotFound(visit),
  )
  app.post('/sign-up', (visit) =>
    signUp === 'open'
      ? makeAccount(dashboard, visit, OPEN, (user, hash) =>
          store.insertUserWithPassword(user, hash),
        )
      : showNotFound(visit),
  )

  app.get('/setup/:token', async (visit) => {
    const token = visit.req.param('token')
    if (!(await isSetupToken(dashboard, token))) return showNotFound(visit)
    return showForm(visit, setupAt(token), {})
  })
  app.post('/setup/:token', async (visit) => {
    const token = visit.req.param('token')
    if (!(await isSetupToken(dashboard, token))) return showNotFound(visit)
    return makeAccount(dashboard, visit, setupAt(token), (user, hash) =>
      store.insertFirstUser(user, hash, token),
    )
  })
}

interface Kind {
  title: string
  action: string
  intro: string
}

const OPEN: Kind = {
  title: 'Make an account',
  action: '/sign-up',
  intro: 'With it you register servers and issue keys for the API.',
}

function setupAt(token: string): Kind {
  return {
    title: 'Set this service up',
    action: `/setup/${token}`,
    intro: 'Nobody has an account yet. Make the first one: this link works once.',
  }
}

async function isSetupToken({ store }: Dashboard, token: string): Promise<boolean> {
  return (await store.findSecret('setup')) === token && !(await store.hasUsers())
}

interface Given {
  email?: string
  errors?: { email?: string; password?: string }
  status?: 429
}

async function makeAccount(
  dashboard: Dashboard,
  visit: Visit,
  kind: Kind,
  insert: (user: User, passwordHash: string) => Promise<boolean>,
): Promise<Response> {
  const email = fieldOf(visit, 'email').trim()
  const password = fieldOf(visit, 'password')
  const checked = checkEmail(email)
  const complaint = complaintAboutPassword(password, email)
  const errors = {
    ...('complaint' in checked ? { email: sentence(checked.complaint) } : {}),
    ...(complaint === null ? {} : { password: `The password must ${complaint}.` }),
  }
  if ('complaint' in checked || complaint !== null) return showForm(visit, kind, { email, errors })
  const refused = await refuseManyAccounts(dashboard, visit)
  if (refused !== null)
    return showForm(visit, kind, { email, errors: { email: refused.message }, status: 429 })

  const user = createUser(checked.email)
  const inserted = await insert(user, await dashboard.accounts.hashPassword(password))
  if (!inserted) {
    const taken = 'There is an account with this e-mail address. Sign in instead.'
    return showForm(visit, kind, { email, errors: { email: taken } })
  }
  await audit(dashboard, visit, 'sign-up', user.id, user.email)
  const userAgent = visit.req.header('User-Agent') ?? ''
  const signIn = () => dashboard.accounts.signIn(user.email, password, userAgent)
  const cookies = await afterwards(dashboard, signIn, null)
  return withCookies(visit.redirect('/dashboard/servers', 303), cookies ?? [])
}

/** A complaint as it is written for a command line, for a page. */
export function sentence(complaint: string): string {
  return `${complaint.charAt(0).toUpperCase()}${complaint.slice(1)}.`
}

function showForm(
  visit: Visit,
  kind: Kind,
  { email = '', errors, status }: Given,
): Promise<Response> {
  return showPage(visit, {
    title: kind.title,
    status: status ?? (errors === undefined ? 200 : 422),
    body: html`<p>${kind.intro}</p>
<form class="card" method="post" action="${kind.action}">
${showField({
  name: 'email',
  label: 'E-mail address',
  type: 'email',
  value: email,
  autocomplete: 'username',
  required: true,
  error: errors?.email,
})}
${showField({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'new-password',
  required: true,
  hint: `${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters. A few words are easier to remember than many signs.`,
  error: errors?.password,
})}
<button>Make the account</button>
</form>
${kind === OPEN ? html`<p>Have one already? <a href="/sign-in">Sign in</a></p>` : ''}`,
  })
}
