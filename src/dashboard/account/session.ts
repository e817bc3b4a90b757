import { createMiddleware } from 'hono/factory'
import { cookieOf, type Dashboard, type Env } from '../context.ts'
import { notice } from '../html/page.ts'
import { returnPathOf } from './return-path.ts'
import { showSignIn } from './sign-in.ts'

/** Sends users without a session to sign in, and then back to the page with what they typed. */
export function requireSession({ accounts, operators, signUp }: Dashboard) {
  return createMiddleware<Env>(async (c, next) => {
    const session = await accounts.readSession(cookieOf(c))
    if (session !== null) {
      c.set('session', session)
      c.set('isOperator', operators.includes(session.email))
      return next()
    }
    if (c.req.method !== 'POST')
      return c.redirect(`/sign-in?next=${encodeURIComponent(returnPathOf(c))}`, 303)
    return showSignIn(c, {
      signUp,
      status: 401,
      next: returnPathOf(c),
      message: notice('note', 'Your session has ended. Sign in again; we kept what you typed.'),
    })
  })
}
