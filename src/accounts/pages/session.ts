import { createMiddleware } from 'hono/factory'
import { cookieOf, type Context, type Env, fieldOf, setSession } from '../../web/context.ts'
import type { Session } from '../../model/session.ts'
import { bestEffort } from '../../web/request/best-effort.ts'
import { tellNext } from '../../web/request/next-notice.ts'
import { sessionList } from '../records/sessions.ts'
import { ACTIVITY_STEP_US } from '../sessions.ts'
import { returnPathOf } from './return-path.ts'
import type { AccountsDashboard } from './sign-in/attempts.ts'
import { showSignIn } from './sign-in/sign-in.ts'

/** Sends users without a session to sign in, and then back to the page with what they typed. */
export function requireSession(dashboard: AccountsDashboard) {
  return createMiddleware<Env>(async (c, next) => {
    const session = await dashboard.accounts.readSession(cookieOf(c))
    if (session === null) return askToSignIn(dashboard, c)
    setSession(dashboard, c, session)
    await noteActivity(dashboard, session)
    return next()
  })
}

/** For pages that visitors read, too: a signed-in user sees the sections. */
export function recognizeSession(dashboard: AccountsDashboard) {
  return createMiddleware<Env>(async (c, next) => {
    const session = await dashboard.accounts.readSession(cookieOf(c))
    if (session !== null) {
      setSession(dashboard, c, session)
      await noteActivity(dashboard, session)
    }
    return next()
  })
}

/** A database that can't store this, such as one on a full disk, still shows pages. */
async function noteActivity(dashboard: AccountsDashboard, session: Session): Promise<void> {
  const { database, now } = dashboard
  const at = now()
  if (at - session.lastActiveAt < ACTIVITY_STEP_US) return
  await bestEffort(dashboard, () => sessionList(database).noteActivity(session.id, at), undefined)
}

const UNDO = /^\/dashboard\/servers\/undo$/
const UUID = /^[0-9a-f-]{36}$/

/** The page to sign in, for a request whose session has ended. It says what became of a form. */
export async function askToSignIn(dashboard: AccountsDashboard, c: Context): Promise<Response> {
  const { path, typed } = returnPathOf(c)
  if (c.req.method !== 'POST') return c.redirect(`/sign-in?next=${encodeURIComponent(path)}`, 303)
  // The list then offers the undo again.
  const change = fieldOf(c, 'change')
  if (UNDO.test(c.req.path) && UUID.test(change)) tellNext(dashboard, c, 'changed', change)
  const text = ENDED_BY[c.req.path] ?? `${ENDED} ${NEXT[typed]}`
  return showSignIn(dashboard, c, { status: 401, next: path, notice: { kind: 'note', text } })
}

const ENDED = 'Your session has ended, and nothing was changed.'
const NEXT = {
  nothing: 'Sign in and try again.',
  kept: 'Sign in again. We keep what you typed.',
  secret: 'Sign in and paste the text again.',
  'too long': 'What you typed is too long to keep. Go back and copy it, then sign in.',
}
/** Forms that end the session themselves. They may have been sent twice. */
const ENDED_BY: Record<string, string> = {
  '/dashboard/account/password':
    'Your session has ended. If you have just changed your password, sign in with the new one. Otherwise it was not changed.',
  '/dashboard/account/delete':
    'Your session has ended. If you have just deleted your account, it is gone. Otherwise it was not deleted: sign in and try again.',
}
