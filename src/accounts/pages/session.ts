import { createMiddleware } from 'hono/factory'
import {
  cookieOf,
  type Context,
  type Dashboard,
  type Env,
  fieldOf,
  setSession,
} from '../../web/context.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { returnPathOf } from './return-path.ts'
import { showSignIn } from './sign-in/sign-in.ts'

/** Sends users without a session to sign in, and then back to the page with what they typed. */
export function requireSession(dashboard: Dashboard) {
  return createMiddleware<Env>(async (c, next) => {
    const session = await dashboard.accounts.readSession(cookieOf(c))
    if (session === null) return askToSignIn(dashboard, c)
    setSession(dashboard, c, session)
    return next()
  })
}

/** For pages that visitors read, too: a signed-in user sees the sections. */
export function recognizeSession(dashboard: Dashboard) {
  return createMiddleware<Env>(async (c, next) => {
    const session = await dashboard.accounts.readSession(cookieOf(c))
    if (session !== null) setSession(dashboard, c, session)
    return next()
  })
}

const UNDO = /^\/dashboard\/servers\/undo$/
const UUID = /^[0-9a-f-]{36}$/

/** The page to sign in, for a request whose session has ended. It says what became of a form. */
export async function askToSignIn(dashboard: Dashboard, c: Context): Promise<Response> {
  const { path, typed } = returnPathOf(c)
  if (c.req.method !== 'POST') return c.redirect(`/sign-in?next=${encodeURIComponent(path)}`, 303)
  // The list then offers the undo again.
  const change = fieldOf(c, 'change')
  if (UNDO.test(c.req.path) && UUID.test(change)) tellNext(dashboard, c, 'changed', change)
  const text = c.req.path === '/dashboard/account/password' ? PASSWORD : `${ENDED} ${NEXT[typed]}`
  const { signUp } = dashboard
  return showSignIn(c, { signUp, status: 401, next: path, notice: { kind: 'note', text } })
}

const ENDED = 'Your session has ended, and nothing was changed.'
const NEXT = {
  nothing: 'Sign in and try again.',
  kept: 'Sign in again. We keep what you typed.',
  secret: 'Sign in and paste the text again.',
  'too long': 'What you typed is too long to keep. Go back and copy it, then sign in.',
}
/** The first copy of a form that was sent twice changed the password and ended the session. */
const PASSWORD =
  'Your session has ended. If you have just changed your password, sign in with the new one. Otherwise it was not changed.'
