import { createMiddleware } from 'hono/factory'
import { html } from 'hono/html'
import type { Cookies } from '../listing/accounts.ts'
import { checkEmail } from '../listing/user.ts'
import { attempt } from './attempts.ts'
import { showField } from './form-field.ts'
import { type Html, notice, showPage } from './page.ts'
import { KEPT_FIELDS } from './server-form.ts'
import {
  type App,
  afterwards,
  audit,
  cookieOf,
  type Dashboard,
  type Env,
  fieldOf,
  type Visit,
} from './visit.ts'

/** Pages for who is signed in. Others sign in first, and come back to where they were with what they had typed. */
export function requireSession({ accounts, signUp }: Dashboard) {
  return createMiddleware<Env>(async (visit, next) => {
    const session = await accounts.readSession(cookieOf(visit))
    if (session !== null) {
      visit.set('session', session)
      return next()
    }
    if (visit.req.method !== 'POST')
      return visit.redirect(`/sign-in?next=${encodeURIComponent(targetOf(visit))}`, 303)
    return showSignIn(visit, {
      signUp,
      status: 401,
      next: targetOf(visit),
      message: notice('note', 'Your session has ended. Sign in again: what you typed is kept.'),
    })
  })
}

export function addSessionRoutes(app: App, dashboard: Dashboard): void {
  const { accounts, signUp } = dashboard

  app.get('/sign-in', async (visit) => {
    if ((await accounts.readSession(cookieOf(visit))) !== null)
      return visit.redirect('/dashboard/api', 303)
    return showSignIn(visit, { signUp, next: readTarget(visit.req.query('next') ?? '') })
  })

  app.post('/sign-in', async (visit) => {
    const email = fieldOf(visit, 'email').trim()
    const next = readTarget(fieldOf(visit, 'next'))
    const checked = checkEmail(email)
    // What can be nobody's address is asked for all the same, as long as every database can be asked for it.
    const address = 'email' in checked ? checked.email : email.toLowerCase().replace(/\p{Cc}/gu, '')
    const tried = await attempt(dashboard, visit, address, () =>
      accounts.signIn(address, fieldOf(visit, 'password'), visit.req.header('User-Agent') ?? ''),
    )
    if (tried.outcome === 'good') {
      await afterwards(
        dashboard,
        () => auditSignIn(dashboard, visit, tried.result, address),
        undefined,
      )
      return withCookies(visit.redirect(next, 303), tried.result)
    }
    const { status, message } = tried
    return showSignIn(visit, { signUp, next, email, status, message: notice('bad', message) })
  })

  app.post('/sign-out', async (visit) => {
    const session = await accounts.readSession(cookieOf(visit))
    const cookies = await accounts.signOut(cookieOf(visit))
    if (session !== null) await audit(dashboard, visit, 'sign-out', session.userId, session.email)
    return withCookies(visit.redirect('/sign-in', 303), cookies)
  })
}

/** Sends the browser on with a session that has just begun. */
export function withCookies(response: Response, cookies: Cookies): Response {
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}

async function auditSignIn(
  dashboard: Dashboard,
  visit: Visit,
  cookies: Cookies,
  email: string,
): Promise<void> {
  const cookie = cookies.map((line) => line.split(';')[0]).join('; ')
  const session = await dashboard.accounts.readSession(cookie)
  if (session !== null) await dashboard.store.dropEndedSessions(session.userId, dashboard.now())
  await audit(dashboard, visit, 'sign-in', session?.userId ?? null, email)
}

/** Fields that are typed anew on a page, and may stand in its address. */
const KEPT = [...KEPT_FIELDS, 'email']
// A query of printable ASCII, as browsers write it, without # and \.
const TARGET = /^\/dashboard(\/[a-z0-9-]+)*(\?[!"$-[\]-~]*)?$/
const TARGET_LENGTH_MAX = 8_000

/** The page a visit belongs to, with what was typed there; of a form that has no page of its own, the page before. */
function targetOf(visit: Visit): string {
  const { path, method } = visit.req
  if (method !== 'POST') return path + new URL(visit.req.url).search
  const kept = new URLSearchParams()
  for (const name of KEPT) if (fieldOf(visit, name) !== '') kept.set(name, fieldOf(visit, name))
  const page = path
    .replace(/\/[^/]+\/(accept|decline)$/, '')
    .replace(
      /(\/members)?\/(status|leaked|members|remove|withdraw|give-back|password|email|sessions)$/,
      '',
    )
  const target = kept.size > 0 ? `${page}?${kept.toString()}` : page
  return target.length <= TARGET_LENGTH_MAX ? target : page
}

/** Only a page of the dashboard is gone to, whatever the form says. */
function readTarget(target: string): string {
  return TARGET.test(target) ? target : '/dashboard/api'
}

interface SignInPage {
  signUp: 'open' | 'closed'
  next: string
  email?: string
  message?: Html
  status?: 200 | 401 | 429 | 503
}

function showSignIn(visit: Visit, { signUp, next, email, message, status }: SignInPage) {
  return showPage(visit, {
    title: 'Sign in',
    status: status ?? 200,
    body: html`${message ?? ''}
<p>Register your game servers, and issue keys for the programs that ask the API for them.</p>
<form class="card" method="post" action="/sign-in">
<input type="hidden" name="next" value="${next}">
${showField({
  name: 'email',
  label: 'E-mail address',
  type: 'email',
  value: email ?? '',
  autocomplete: 'username',
  required: true,
})}
${showField({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  required: true,
})}
<button>Sign in</button>
</form>
${signUp === 'open' ? html`<p>No account yet? <a href="/sign-up">Make one</a></p>` : html`<p class="hint">Accounts are made by whoever runs this service; so are new passwords.</p>`}`,
  })
}
