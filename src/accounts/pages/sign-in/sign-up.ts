import type { AccountsDashboard } from './attempts.ts'
import { html } from 'hono/html'
import { complaintAboutPassword } from '../../passwords.ts'
import { type AddressedUser, createUser } from '../../user.ts'
import { checkEmail } from '../../../model/email.ts'
import {
  actorOf,
  type App,
  type Context,
  type Dashboard,
  fieldOf,
  type Site,
} from '../../../web/context.ts'
import { showField } from '../../../web/html/form-field.ts'
import { showNotFound, showPage } from '../../../web/html/page.ts'
import { titleOf } from '../../../web/html/site.ts'
import { sentence } from '../../../web/html/sentence.ts'
import { limitSignUps } from './rate-limit.ts'
import { showNewPassword, signInAndOpen } from './new-password.ts'
import { passwords } from '../../records/passwords.ts'
import { secrets } from '../../records/secrets.ts'

/**
 * Creates accounts: at `/sign-up` if it is open, and the first one by the setup link that the
 * service prints.
 */
export function addSignUpRoutes(app: App, dashboard: AccountsDashboard): void {
  const { database, operators, signUp, site } = dashboard

  app.get('/sign-up', (c) => (signUp === 'open' ? showForm(c, OPEN, {}) : showNotFound(c)))
  app.post('/sign-up', (c) =>
    signUp === 'open'
      ? // Visitors can't take the address of an operator, because nothing verifies addresses.
        createAccount(dashboard, c, OPEN, async (user, hash) =>
          !operators.includes(user.email) &&
          (await passwords(database).insertUserWithPassword(
            user,
            hash,
            'sign-up',
            actorOf(dashboard, c),
          ))
            ? user.id
            : null,
        )
      : showNotFound(c),
  )

  if (!dashboard.passwords) return
  app.get('/setup/:token', async (c) => {
    const token = c.req.param('token')
    if (!(await isSetupToken(dashboard, token))) return refuseLink(dashboard, c)
    return showForm(c, setupAt(site, token), {})
  })
  app.post('/setup/:token', async (c) => {
    const token = c.req.param('token')
    if (!(await isSetupToken(dashboard, token))) return refuseLink(dashboard, c)
    return createAccount(dashboard, c, setupAt(site, token), (user, hash) =>
      passwords(database).insertFirstUser(user, hash, token, actorOf(dashboard, c)),
    )
  })
}

interface Kind {
  title: string
  action: string
  intro: string
  /** The error if no account was created. */
  taken: string
}

/** One sentence for both, so that no answer tells which addresses are those of operators. */
export const TAKEN_OR_RESERVED = 'This email address is taken, or reserved for an operator.'

const OPEN: Kind = {
  title: 'Create an account',
  action: '/sign-up',
  intro: 'Register your servers and issue keys for the API.',
  taken: `${TAKEN_OR_RESERVED} If you just created the account, sign in.`,
}

function setupAt(site: Site, token: string): Kind {
  return {
    title: `Set up ${titleOf(site)}`,
    action: `/setup/${token}`,
    intro:
      'People register their game servers here, and programs read each person’s listing as JSON with an API key. Create the first account. This link works only once.',
    taken: 'This link no longer works, because an account exists now. Sign in instead.',
  }
}

async function isSetupToken({ database }: Dashboard, token: string): Promise<boolean> {
  return (
    (await secrets(database).findSecret('setup')) === token &&
    !(await passwords(database).hasAccounts())
  )
}

/** Any link, so that no visitor learns which one worked. */
async function refuseLink({ database }: Dashboard, c: Context): Promise<Response> {
  if (!(await passwords(database).hasAccounts())) return showNotFound(c)
  return showPage(c, {
    title: 'This link no longer works',
    status: 404,
    width: 'form',
    body: html`<p>A setup link works only once, and an account exists now. <a href="/sign-in">Sign in</a></p>`,
  })
}

interface Given {
  email?: string
  errors?: { email?: string; password?: string }
  status?: 429
}

async function createAccount(
  dashboard: AccountsDashboard,
  c: Context,
  kind: Kind,
  insert: (user: AddressedUser, passwordHash: string) => Promise<string | null>,
): Promise<Response> {
  const email = fieldOf(c, 'email').trim()
  const password = fieldOf(c, 'password')
  const checked = checkEmail(email)
  const complaint = await complaintAboutPassword(password, email)
  const errors = {
    ...('complaint' in checked ? { email: sentence(checked.complaint) } : {}),
    ...(complaint === null ? {} : { password: `The password must ${complaint}.` }),
  }
  if ('complaint' in checked || complaint !== null) return showForm(c, kind, { email, errors })
  const refused = await limitSignUps(dashboard, c)
  if (refused !== null) return showForm(c, kind, { email, errors: { email: refused }, status: 429 })

  const user = createUser(checked.email)
  const userId = await insert(user, await dashboard.accounts.hashPassword(password))
  if (userId === null) return showForm(c, kind, { email, errors: { email: kind.taken } })
  return signInAndOpen(dashboard, c, { email: user.email, password }, '/dashboard/start')
}

function showForm(
  c: Context,
  kind: Kind,
  { email = '', errors, status }: Given,
): Promise<Response> {
  return showPage(c, {
    title: kind.title,
    status: status ?? (errors === undefined ? 200 : 422),
    width: 'auth',
    lead: kind.intro,
    ...(errors === undefined ? {} : { errors }),
    body: html`<form class="card" method="post" action="${kind.action}">
${showField({
  name: 'email',
  label: 'Email',
  type: 'email',
  value: email,
  autocomplete: 'username',
  required: true,
  hasFocus: errors === undefined,
  error: errors?.email,
})}
${showNewPassword({
  label: 'Password',
  advice: ' A few random words are easy to remember.',
  error: errors?.password,
})}
<button class="primary">Create account</button>
</form>
${kind === OPEN ? html`<p class="hint">Already have an account? <a href="/sign-in">Sign in</a></p>` : ''}`,
  })
}
