import { createMiddleware } from 'hono/factory'
import { cookieOf, type Context, type Env, setSession } from '../../web/context.ts'
import type { Session } from '../../model/session.ts'
import { bestEffort } from '../../web/request/best-effort.ts'
import { sessionList } from '../records/sessions.ts'
import { ACTIVITY_STEP_US } from '../sessions.ts'
import { returnPathOf } from './return-path.ts'
import type { AccountsDashboard } from './sign-in/attempts.ts'
import { showSignIn } from './sign-in/sign-in.ts'

/** Sends users without a session to sign in, and then back to the page where they were. */
export function requireSession(dashboard: AccountsDashboard) {
  return createMiddleware<Env>(async (c, next) =>
    (await recognize(dashboard, c)) ? next() : askToSignIn(dashboard, c),
  )
}

/** For pages that visitors read, too: a signed-in user sees the sections. */
export function recognizeSession(dashboard: AccountsDashboard) {
  return createMiddleware<Env>(async (c, next) => {
    await recognize(dashboard, c)
    return next()
  })
}

/** Sets the signed-in user of the request. False if there is none. */
async function recognize(dashboard: AccountsDashboard, c: Context): Promise<boolean> {
  const session = await dashboard.accounts.readSession(cookieOf(c))
  if (session === null) return false
  setSession(dashboard, c, session)
  await noteActivity(dashboard, session)
  return true
}

/** A database that can't store this, such as one on a full disk, still shows pages. */
async function noteActivity(dashboard: AccountsDashboard, session: Session): Promise<void> {
  const { database, now } = dashboard
  const at = now()
  if (at - session.lastActiveAt < ACTIVITY_STEP_US) return
  await bestEffort(dashboard, () => sessionList(database).noteActivity(session.id, at), undefined)
}

/** The page to sign in, for a request whose session has ended. It says what became of a form. */
async function askToSignIn(dashboard: AccountsDashboard, c: Context): Promise<Response> {
  const next = returnPathOf(c)
  const { method, path } = c.req
  if (method !== 'POST') return c.redirect(`/sign-in?next=${encodeURIComponent(next)}`, 303)
  const notice = { kind: 'note', text: ENDS_SESSION.test(path) ? SENT_TWICE : ENDED } as const
  return showSignIn(dashboard, c, { status: 401, next, notice })
}

const ENDED = 'Your session has ended, and nothing was changed. Sign in and try again.'
const ENDS_SESSION = /^\/dashboard\/account\/(password|delete)$/
const SENT_TWICE =
  'Your session has ended. If you have just changed your password or deleted your account, that is done. Otherwise nothing was changed: sign in and try again.'
